/* See auditchain.h. Assumes that others may have written the log's lines. */
#include "auditchain.h"

#include <string.h>

#include "../base/lines.h"
#include "../base/sha256.h"

#define HEX "0123456789abcdef"
#define NUMBER "{\"n\":"
#define PREV ",\"prev\":\""
#define DIGITS_MAX 20

void
audit_head_begin(struct audit_head *h)
{
	*h = (struct audit_head){ 0 };
	memset(h->hash, '0', AUDIT_HASH - 1);
}

static bool
is_hash(const char *text)
{
	return strspn(text, HEX) == AUDIT_HASH - 1 && text[AUDIT_HASH - 1] == '\0';
}

/* Reads or writes the head, as in lines.h. */
static bool
audit_head_lines(struct lines *s, struct audit_head *h)
{
	lines_begin(s, "audit-head");
	field_u64(s, &h->records);
	field_text(s, h->hash, sizeof(h->hash));
	field_u64(s, &h->inode);
	field_u64(s, &h->size);
	return lines_finish(s);
}

void
audit_head_write(const struct audit_head *h, char out[AUDIT_HEAD_BYTES])
{
	autobuf struct buf b = { 0 };
	struct audit_head copy = *h;
	struct lines s = { .out = &b };

	memset(out, '\n', AUDIT_HEAD_BYTES);
	/*
	 * without memory, write no valid head: the next writer starts a new chain, which verification reports
	 */
	if (audit_head_lines(&s, &copy) && b.len <= AUDIT_HEAD_BYTES)
		memcpy(out, b.p, b.len);
}

bool
audit_head_read(const char *text, size_t len, struct audit_head *h)
{
	struct lines s = { .at = text };

	while (len > 1 && text[len - 1] == '\n' && text[len - 2] == '\n')
		len--;
	s.end = text + len;
	*h = (struct audit_head){ 0 };
	if (audit_head_lines(&s, h) && is_hash(h->hash))
		return true;
	audit_head_begin(h);
	return false;
}

void
audit_hash(const char *line, size_t len, char out[AUDIT_HASH])
{
	uint8_t digest[SHA256_BYTES];
	struct sha256 s;
	size_t i;

	sha256_begin(&s);
	sha256_add(&s, line, len);
	sha256_end(&s, digest);
	for (i = 0; i < sizeof(digest); i++) {
		out[2 * i] = HEX[digest[i] >> 4];
		out[2 * i + 1] = HEX[digest[i] & 15];
	}
	out[2 * i] = '\0';
}

bool
audit_link(const struct audit_head *h, const char *line, size_t len, struct buf *out)
{
	buf_printf(out, NUMBER "%llu" PREV "%s\",", (unsigned long long)h->records + 1, h->hash);
	buf_add(out, line + 1, len - 1);
	return !out->failed;
}

bool
audit_link_read(const char *line, size_t len, uint64_t *n, char prev[AUDIT_HASH])
{
	const char *end = line + len, *at = line + strlen(NUMBER);
	char digits[DIGITS_MAX + 1];
	size_t i;

	if (len < strlen(NUMBER) || memcmp(line, NUMBER, strlen(NUMBER)) != 0)
		return false;
	for (i = 0; i < DIGITS_MAX && at < end && *at >= '0' && *at <= '9'; i++)
		digits[i] = *at++;
	digits[i] = '\0';
	/* records count from 1: a 0 would be the number of a record before the first one */
	if (!text_u64(digits, UINT64_MAX, n) || *n == 0 || (size_t)(end - at) < strlen(PREV) + AUDIT_HASH ||
	    memcmp(at, PREV, strlen(PREV)) != 0)
		return false;
	at += strlen(PREV);
	memcpy(prev, at, AUDIT_HASH - 1);
	prev[AUDIT_HASH - 1] = '\0';
	/*
	 * a line that was cut off is no record; one that is cut after a «}» looks whole to reader and writer
	 * alike
	 */
	return at[AUDIT_HASH - 1] == '"' && is_hash(prev) && line[len - 1] == '}';
}

bool
audit_head_advance(struct audit_head *h, const char *line, size_t len)
{
	char prev[AUDIT_HASH];
	uint64_t n;

	if (!audit_link_read(line, len, &n, prev) || n != h->records + 1 || strcmp(prev, h->hash) != 0)
		return false;
	h->records = n;
	audit_hash(line, len, h->hash);
	return true;
}
