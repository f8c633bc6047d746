/* ask/wire.c and json/strictjson.c: the header of a frame, and which JSON is accepted. */
#include "ask/wire.h"
#include "base/text.h"
#include "json/strictjson.h"
#include "tap.h"

static int
length(const char *in, uint32_t max, uint32_t *len, struct why *why)
{
	*why = (struct why){ 0 };
	*len = 4711;
	return wire_length((const unsigned char *)in, max, len, why);
}

static void
test_header(void)
{
	unsigned char h[WIRE_HEADER + 1];
	struct why why;
	uint32_t len;

	memset(h, 'x', sizeof(h));
	wire_header(h, 0x01020304);
	ok(memcmp(h, "GPUH\0\0\0\7\1\2\3\4x", sizeof(h)) == 0,
	    "a header has GPUH, the version and the length, both big-endian");
	ok(wire_length(h, UINT32_MAX, &len, &why) == 0 && len == 0x01020304,
	    "a header is read back");
	ok(length("GPUH\0\0\0\7\0\0\0\0", 0, &len, &why) == 0 && len == 0,
	    "a length of 0 is accepted");
	ok(length("GPUH\0\0\0\7\0\4\100\0", WIRE_REQUEST_MAX, &len, &why) == 0 && len == WIRE_REQUEST_MAX,
	    "the length of the longest request is accepted");
	is_int(length("GPUH\0\0\0\7\0\4\100\1", WIRE_REQUEST_MAX, &len, &why), -1,
	    "one byte more is refused");
	is_str(why.text, "a message of 278529 bytes is too long (at most 278528)",
	    "  the message says why");
	is_int(length("GPUH\0\0\0\7\377\377\377\377", WIRE_REPLY_MAX, &len, &why), -1,
	    "the greatest length is refused");
	is_int(length("gPUH\0\0\0\2\0\0\0\0", 9, &len, &why), -1, "another magic is refused");
	is_str(why.text, "this is no message between gpuhelper-runc and gpuhelper",
	    "  the message says why");
	is_int(length("GPUH\0\0\0\10\0\0\0\0", 9, &len, &why), -1, "a later version is refused");
	is_str(why.text, "gpuhelper-runc and gpuhelper are of different versions (8 and 7): install both from one "
	    "build", "  the message says why");
	is_int(length("GPUH\0\0\0\2\0\0\0\0", 9, &len, &why), -1, "an earlier version is refused");
	is_str(why.text, "gpuhelper-runc and gpuhelper are of different versions (2 and 7): install both from one "
	    "build", "  the message says why");
	is_int(length("GPUH\1\0\0\7\0\0\0\0", 9, &len, &why), -1,
	    "all four bytes of the version count");
}

static bool
parses(const char *text, size_t len, struct why *why)
{
	json_t *j;

	*why = (struct why){ 0 };
	j = strictjson_object(text, len, why);
	json_decref(j);
	return j != NULL;
}

#define TEXT(s) (s), sizeof(s) - 1

static void
test_body(void)
{
	static const struct {
		const char *text;
		size_t len;
		const char *what, *why;
	} bad[] = {
		{ TEXT(""), "nothing", "is not JSON from line 1, column 0 on" },
		{ TEXT("[]"), "a list", "is JSON, but no object" },
		{ TEXT("1"), "a number", "is not JSON from line 1, column 1 on" },
		{ TEXT("null"), "null", "is not JSON from line 1, column 4 on" },
		{ TEXT("{} " "{}"), "two objects", "is not JSON from line 1, column 4 on" },
		{ TEXT("{}x"), "text after the object", "is not JSON from line 1, column 3 on" },
		{ TEXT("{}\0"), "a NUL after the object", "is not JSON from line 1, column 3 on" },
		{ TEXT("{"), "a truncated object", "is not JSON from line 1, column 1 on" },
		{ TEXT("{\n\"a\":1,\n\"a\":2}"), "a duplicate key",
		    "has one name twice, at line 3, column 3" },
		{ TEXT("{\"a\":{\"b\":1,\"\\u0062\":2}}"),
		    "a duplicate key in an inner object, escaped",
		    "has one name twice, at line 1, column 20" },
		{ TEXT("{\"a\":\"\\u0000\"}"), "a NUL in a string",
		    "is not JSON from line 1, column 13 on" },
		{ TEXT("{\"\\u0000\":1}"), "a NUL in a key", "is not JSON from line 1, column 9 on" },
		{ TEXT("{\"a\":\"\xff\"}"),
		    "invalid UTF-8", "is not JSON from line 1, column 6 on" },
		{ TEXT("{\"a\":1e999}"), "a number that is too large for a real",
		    "has a number out of range, at line 1, column 10" },
		{ TEXT("{\"a\":9223372036854775808}"), "a number that is too large for an integer",
		    "has a number out of range, at line 1, column 24" },
	};
	struct why why;
	size_t i;

	ok(parses(TEXT("{}"), &why), "an empty object is accepted");
	ok(parses(TEXT(" {\"a\":[1,\"]]]]]\",\"\\\"[[[[\"]}\n"), &why),
	    "brackets in strings do not count as depth: %s",
	    why.text);
	ok(parses("{}garbage", 2, &why), "no byte beyond the length is read");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok(!parses(bad[i].text, bad[i].len, &why), "refused: %s", bad[i].what);
		is_str(why.text, bad[i].why, "  the message says why");
		is_int(why.code, WHY_DATA, "  the code says that the sender is at fault");
	}
}

static void
test_depth(void)
{
	struct buf b = { 0 };
	struct why why;
	int i;

	buf_puts(&b, "{\"a\":");
	for (i = 0; i < 15; i++)
		buf_puts(&b, "[");
	for (i = 0; i < 15; i++)
		buf_puts(&b, "]");
	buf_puts(&b, "}");
	ok(parses(b.p, b.len, &why), "sixteen levels are accepted");
	buf_free(&b);
	buf_puts(&b, "{\"a\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}");
	ok(!parses(b.p, b.len, &why), "seventeen levels are refused");
	is_str(why.text, "nested deeper than 16", "  the message says why");
	buf_free(&b);
	/* many values on one level add no depth */
	buf_puts(&b, "{\"a\":[");
	for (i = 0; i < 1000; i++)
		buf_puts(&b, "{},");
	buf_puts(&b, "[]]}");
	ok(parses(b.p, b.len, &why), "a thousand values on one level are accepted");
	buf_free(&b);
	/* brackets in strings do not count as depth */
	buf_puts(&b, "{\"a\":\"[[[[[[[[[[[[[[[[[[[[\",\"b\":\"\\\"[[[[[[[[[[[[[[[[[[[[\"}");
	ok(parses(b.p, b.len, &why), "twenty brackets in a string are accepted: %s", why.text);
	buf_free(&b);
	/* brackets that close too much give no room for more */
	buf_puts(&b, "]]]]]]]]]]]]]]]]]]]]{\"a\":");
	for (i = 0; i < 200000; i++)
		buf_puts(&b, "[");
	ok(!parses(b.p, b.len, &why) && strcmp(why.text, "nested deeper than 16") == 0,
	    "two hundred thousand brackets are refused before the parser recurses");
	buf_free(&b);
	/* an unterminated string with a backslash at the end */
	ok(!parses(TEXT("{\"a\":\"\\"), &why), "a truncated escape at the end is refused");
}

int
main(void)
{
	test_header();
	test_body();
	test_depth();
	return done_testing();
}
