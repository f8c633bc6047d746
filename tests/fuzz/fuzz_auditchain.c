/*
 * libFuzzer entry for the audit log's chain: every accepted head or link has one spelling, and a linked record is
 * read back, whatever its text.  The hash is nettle's.
 */
#include <inttypes.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "../../helper/lease/auditchain.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
try_head(const char *text, size_t len)
{
	char again[AUDIT_HEAD_BYTES];
	struct audit_head h;
	size_t end = sizeof(again);

	if (!audit_head_read(text, len, &h)) {
		must(h.records == 0 && strspn(h.hash, "0") == AUDIT_HASH - 1);
		return;
	}
	audit_head_write(&h, again);
	while (len > 1 && text[len - 2] == '\n')
		len--;
	while (end > 1 && again[end - 2] == '\n')
		end--;
	must(end == len && memcmp(text, again, len) == 0);
}

static void
check_hash(const char *line, size_t len)
{
	struct sha256_ctx s;
	uint8_t digest[SHA256_DIGEST_SIZE];
	char theirs[AUDIT_HASH] = "", ours[AUDIT_HASH];

	sha256_init(&s);
	sha256_update(&s, len, (const uint8_t *)line);
	sha256_digest(&s, sizeof(digest), digest);
	base16_encode_update(theirs, sizeof(digest), digest);
	audit_hash(line, len, ours);
	must(strcmp(ours, theirs) == 0);
}

static void
try_link(const char *line, size_t len)
{
	struct audit_head h = { 0 };
	char prev[AUDIT_HASH], start[AUDIT_LINK_MAX + 1];
	uint64_t n;
	int k;

	check_hash(line, len);
	if (!audit_link_read(line, len, &n, prev))
		return;
	k = snprintf(start, sizeof(start), "{\"n\":%" PRIu64 ",\"prev\":\"%s\"", n, prev);
	must(n > 0 && (size_t)k < len && memcmp(line, start, (size_t)k) == 0 && line[len - 1] == '}');
	h.records = n - 1;
	memcpy(h.hash, prev, sizeof(prev));
	must(audit_head_advance(&h, line, len) && h.records == n && strcmp(h.hash, prev) != 0);
	must(!audit_head_advance(&h, line, len));
}

/* A record's text has no newline. */
static void
try_record(const char *text, size_t len)
{
	autobuf struct buf record = { 0 }, line = { 0 };
	struct audit_head h;

	audit_head_begin(&h);
	h.records = len;
	buf_puts(&record, "{");
	buf_add(&record, text, len);
	buf_puts(&record, "}");
	must(audit_link(&h, record.p, record.len, &line) && line.len <= record.len + AUDIT_LINK_MAX);
	must(audit_head_advance(&h, line.p, line.len) && h.records == len + 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	try_head(text, size);
	if (memchr(data, '\n', size) == NULL) {
		try_link(text, size);
		try_record(text, size);
	}
	return 0;
}
