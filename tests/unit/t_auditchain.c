/*
 * lease/auditchain.c: a link matches exactly the record as it was written. The head is read back
 * completely or not at all.
 */
#include <stdio.h>
#include <string.h>

#include "lease/auditchain.h"
#include "tap.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
/* printf '{"n":1,"prev":"0…0","a":1}' | sha256sum */
#define FIRST "{\"n\":1,\"prev\":\"" ZEROS "\",\"a\":1}"

static void
test_link(void)
{
	autobuf struct buf one = { 0 }, two = { 0 };
	struct audit_head h, copy;
	char prev[AUDIT_HASH], hash[AUDIT_HASH];
	uint64_t n = 0;

	audit_head_begin(&h);
	ok(audit_link(&h, "{\"a\":1}\n", 8, &one) && strcmp(one.p, FIRST "\n") == 0,
	    "the first record's link has number 1 and a hash of zeros");
	ok(audit_link_read(one.p, one.len - 1, &n, prev) && n == 1 && strcmp(prev, ZEROS) == 0,
	    "the link of the first record is read");
	ok(audit_head_advance(&h, one.p, one.len - 1) && h.records == 1,
	    "the head advances to the first record");
	audit_hash(FIRST, strlen(FIRST), hash);
	ok(strcmp(h.hash, hash) == 0, "the head has the hash of the line without its newline");
	ok(audit_link(&h, "{\"b\":2}\n", 8, &two) && two.len <= 8 + AUDIT_LINK_MAX && strstr(two.p, hash) != NULL,
	    "the second record has the first record's hash");
	copy = h;
	ok(!audit_head_advance(&h, one.p, one.len - 1) && memcmp(&copy, &h, sizeof(h)) == 0,
	    "a record that does not follow leaves the head unchanged");
	ok(audit_head_advance(&h, two.p, two.len - 1) && h.records == 2,
	    "a record that follows advances the head");
	h.records = UINT64_MAX - 1;
	buf_free(&two);
	ok(audit_link(&h, "{\"b\":2}", 7, &two) && two.len <= 7 + AUDIT_LINK_MAX,
	    "the longest link has the longest allowed length");
}

static void
test_no_link(void)
{
	static const char *const bad[] = {
		"", "{", "{}", "{\"n\":1}", "{\"n\":0,\"prev\":\"" ZEROS "\",\"a\":1}", "{\"n\":1,\"prev\":\"\",", "{\"n\":,\"prev\":\"" ZEROS "\",", "{\"n\":01,\"prev\":\"" ZEROS "\",",
		"{\"n\":-1,\"prev\":\"" ZEROS "\",", "{\"n\":18446744073709551616,\"prev\":\"" ZEROS "\",",
		"{\"n\":1, \"prev\":\"" ZEROS "\",", " {\"n\":1,\"prev\":\"" ZEROS "\",", "{\"n\":1,\"prev\":\"" ZEROS "0\",",
		"{\"n\":1,\"prev\":\"A000000000000000000000000000000000000000000000000000000000000000\",",
		"{\"n\":1,\"prev\":\"" ZEROS, "{\"n\":1,\"prev\":\"" ZEROS "\",\"time\":\"20", "{\"n\":111111111111111111111111111111,\"prev\":\"" ZEROS "\",",
	};
	char prev[AUDIT_HASH], copy[256];
	uint64_t n;
	size_t i, k;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!audit_link_read(bad[i], strlen(bad[i]), &n, prev),
		    "this is not read as a link: %.40s", bad[i]);
	/* the parser must read no byte beyond the end */
	for (k = 0; k < strlen(FIRST) - strlen("\"a\":1}") - 1; k++) {
		memcpy(copy, FIRST, k);
		memset(copy + k, 'x', sizeof(copy) - k);
		if (audit_link_read(copy, k, &n, prev))
			break;
	}
	ok(k == strlen(FIRST) - strlen("\"a\":1}") - 1,
	    "no truncated link is read as a link (%zu)", k);
}

static void
test_head(void)
{
	struct audit_head h = { .records = 12, .inode = 345, .size = UINT64_MAX }, back;
	char text[AUDIT_HEAD_BYTES], other[AUDIT_HEAD_BYTES];
	size_t i;
	bool taken = false;

	audit_hash("x", 1, h.hash);
	audit_head_write(&h, text);
	ok(audit_head_read(text, sizeof(text), &back) && back.records == 12 && back.inode == 345 && back.size == UINT64_MAX &&
	    strcmp(back.hash, h.hash) == 0, "a head is read back");
	h.records = UINT64_MAX;
	h.inode = UINT64_MAX;
	audit_head_write(&h, text);
	ok(audit_head_read(text, sizeof(text), &back) && back.records == UINT64_MAX,
	    "a head of the greatest length is read back");
	h.records = 1;
	audit_head_write(&h, other);
	memcpy(text, other, sizeof(text));
	ok(audit_head_read(text, sizeof(text), &back) && back.records == 1,
	    "a shorter head is read back after it overwrote a longer one");
	for (i = 0; i < strlen("audit-head 1 ") + 64 + 40; i++) {
		memcpy(other, text, sizeof(other));
		other[i] ^= 4;
		taken = taken || (audit_head_read(other, sizeof(other), &back) && back.records == 1 && strcmp(back.hash, h.hash) == 0 &&
		    back.inode == h.inode && back.size == h.size);
	}
	ok(!taken, "a head with one flipped bit is not read as the same head");
	ok(!audit_head_read("", 0, &back) && back.records == 0 && strcmp(back.hash, ZEROS) == 0,
	    "an empty file is read as the head of an empty log");
	ok(!audit_head_read("audit-head 1 abc 1 1\nend\n", 25, &back) &&
	    strcmp(back.hash, ZEROS) == 0,
	    "a head with an invalid hash is refused");
}

int
main(void)
{
	test_link();
	test_no_link();
	test_head();
	return done_testing();
}
