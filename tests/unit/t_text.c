/*
 * base/text.c, base/why.c and base/hash.c: turn any bytes into one printable line or one exact
 * number.
 */
#include <jansson.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/textnear.h"
#include "base/why.h"
#include "tap.h"

#define TEXT(s) (s), sizeof(s) - 1

static void
test_utf8(void)
{
	static const struct {
		const char *s;
		size_t len;
		bool good;
	} t[] = {
		{ TEXT(""), true }, { TEXT("abc"), true }, { TEXT("\0"), true }, { TEXT("\x7f"), true },
		    { TEXT("\x80"), false },
		{ TEXT("\xc2\x80"), true }, { TEXT("\xc1\xbf"), false }, { TEXT("\xc0\x80"), false },
		    { TEXT("\xdf\xbf"), true },
		{ TEXT("\xc2"), false }, { TEXT("\xc2\x41"), false }, { TEXT("\xc2\xc0"), false },
		{ TEXT("\xe0\x9f\xbf"), false }, { TEXT("\xe0\xa0\x80"), true }, { TEXT("\xed\x9f\xbf"), true },
		{ TEXT("\xed\xa0\x80"), false }, { TEXT("\xed\xbf\xbf"), false }, { TEXT("\xee\x80\x80"), true },
		{ TEXT("\xef\xbf\xbf"), true }, { TEXT("\xe2\x82"), false }, { TEXT("\xe2\x28\xa1"), false },
		{ TEXT("\xf0\x8f\xbf\xbf"), false }, { TEXT("\xf0\x90\x80\x80"), true },
		    { TEXT("\xf4\x8f\xbf\xbf"), true },
		{ TEXT("\xf4\x90\x80\x80"), false }, { TEXT("\xf5\x80\x80\x80"), false },
		    { TEXT("\xf8\x88\x80\x80\x80"), false },
		{ TEXT("\xfe"), false }, { TEXT("\xff"), false }, { TEXT("\xf0\x9f\x98"), false },
		    { TEXT("a\xff" "b"), false },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ok(text_is_utf8(t[i].s, t[i].len) == t[i].good,
		    "case %zu %s UTF-8", i, t[i].good ? "is" : "is not");
	ok(text_is_utf8("\xc2\x80", 2) && !text_is_utf8("\xc2\x80", 1),
	    "the check does not read beyond the end");
}

static void
test_printable(void)
{
	static const struct {
		const char *in, *out, *what;
	} t[] = {
		{ "plain", "plain", "plain text stays" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		    "characters beyond ASCII stay" },
		{ "a\nb\tc\x1b[31md\x7f", "a?b?c?[31md?", "control bytes are replaced" },
		{ "\xc2\x80\xc2\x9f\xc2\xa0", "??\xc2\xa0",
		    "the control characters from U+0080 to U+009F are replaced" },
		{ "\xe2\x80\xae\xe2\x80\xab\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f", "?????",
		    "characters that change the text's direction are replaced" },
		{ "\xe2\x80\x8b\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf", "????",
		    "invisible characters and other line ends are replaced" },
		{ "\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0",
		    "\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0",
		    "the characters next to these stay" },
		{ "\xff\xfe\xc3", "???", "each invalid byte is replaced by one character" },
		{ "\xed\xa0\x80", "???", "a surrogate is invalid" },
	};
	char out[64];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		memset(out, 'x', sizeof(out));
		text_printable(out, sizeof(out), t[i].in);
		is_str(out, t[i].out, "%s", t[i].what);
	}
	text_printable(out, 4, "abcdef");
	is_str(out, "abc", "a text is truncated to the size, with a terminator");
	text_printable(out, 4, "ab\xc3\xa4");
	is_str(out, "ab", "a text is not truncated inside a character");
	text_printable(out, 3, "ab\n");
	is_str(out, "ab", "a replaced byte that does not fit is cut off");
	text_printable(out, 1, "abc");
	is_str(out, "", "a text is truncated to nothing");
}

static void
test_u64(void)
{
	static const struct {
		const char *s;
		bool good;
		uint64_t v;
	} t[] = {
		{ "0", true, 0 }, { "7", true, 7 }, { "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 }, { "99999999999999999999", false, 0 }, { "", false, 0 },
		{ "00", false, 0 }, { "01", false, 0 }, { "-1", false, 0 }, { "+1", false, 0 }, { " 1", false, 0 },
		{ "1 ", false, 0 }, { "1.0", false, 0 }, { "0x1", false, 0 }, { "1e1", false, 0 }, { "a", false, 0 },
		{ "\xd9\xa1", false, 0 }, { "28446744073709551616", false, 0 },
	};
	uint64_t v;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		v = 4711;
		ok(text_u64(t[i].s, UINT64_MAX, &v) == t[i].good && v == (t[i].good ? t[i].v : 4711),
		    "\"%s\" %s a number",
		    t[i].s, t[i].good ? "is" : "is not");
	}
	ok(text_u64("9", 9, &v) && !text_u64("10", 9, &v),
	    "the limit is accepted, and a greater number is refused");
}

static void
test_u32(void)
{
	uint32_t v = 4711;

	ok(text_u32("4294967295", 0, UINT32_MAX, &v) && v == UINT32_MAX,
	    "the greatest number of 32 bits is accepted");
	v = 4711;
	ok(!text_u32("4294967296", 0, UINT32_MAX, &v) && v == 4711,
	    "a number of 33 bits is refused");
	ok(!text_u32("1", 2, 5, &v) && text_u32("2", 2, 5, &v) && text_u32("5", 2, 5, &v) && !text_u32("6", 2, 5, &v),
	    "numbers from the least to the greatest are accepted");
}

static void
test_time(void)
{
	static const struct {
		int64_t t;
		const char *s;
	} t[] = {
		{ 0, "1970-01-01T00:00:00Z" }, { 1, "1970-01-01T00:00:01Z" }, { 951782399, "2000-02-28T23:59:59Z" },
		{ 951782400, "2000-02-29T00:00:00Z" }, { 951868800, "2000-03-01T00:00:00Z" },
		{ 4107542399, "2100-02-28T23:59:59Z" }, { 4107542400, "2100-03-01T00:00:00Z" },
		{ 1795215960, "2026-11-20T23:06:00Z" }, { 2147483648, "2038-01-19T03:14:08Z" },
		{ 1709164800, "2024-02-29T00:00:00Z" }, { 1735689599, "2024-12-31T23:59:59Z" },
		{ 253402300799, "9999-12-31T23:59:59Z" }, { 253402300800, "-" }, { -1, "-" }, { INT64_MAX, "-" },
		{ INT64_MIN, "-" },
	};
	char out[32];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		text_time(t[i].t, out);
		is_str(out, t[i].s, "the time after %lld seconds", (long long)t[i].t);
	}
}

static void
test_nearest(void)
{
	static const char *const known[] = { "pipeline", "jobs", "gpus", "folders", "instance_vars", "rw", NULL };
	static const struct {
		const char *word, *near;
	} t[] = {
		{ "pipelin", "pipeline" }, { "pipelines", "pipeline" }, { "piepline", "pipeline" },
		    { "pupelune", "pipeline" },
		{ "ipeliine", "pipeline" }, { "ppielin", "pipeline" }, { "ppieli", NULL }, { "pipleine", "pipeline" }, { "pilpeine", "pipeline" },
		{ "xxpipeline", "pipeline" }, { "xxxpipeline", NULL }, { "Gpus", "gpus" }, { "gpu", "gpus" },
		    { "wr", "rw" },
		{ "r", "rw" }, { "xy", NULL }, { "", NULL }, { "completely", NULL }, { "pipeline", "pipeline" },
		{ "instancevars", "instance_vars" }, { "abcdefghijklmnopqrstuvwxyzabcdefghij", NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		is_str(text_nearest(t[i].word, known), t[i].near,
		    "the nearest known word to \"%s\"", t[i].word);
}

static void
test_lists(void)
{
	autostrlist struct strlist l = { 0 };

	ok(!strlist_has(&l, "a"), "an empty list has no string");
	ok(strlist_add(&l, "alpha", SIZE_MAX) && strlist_add(&l, "beta", 3) && strlist_add(&l, "", SIZE_MAX) &&
	    strlist_add(&l, "g", 10), "strings and parts of strings are added");
	ok(l.n == 4 && strlist_has(&l, "alpha") && strlist_has(&l, "bet") && strlist_has(&l, "") && strlist_has(&l,
	    "g"), "the strings are found");
	ok(!strlist_has(&l, "beta") && !strlist_has(&l, "alph"), "only whole strings are found");
	ok(text_starts("abc", "") && text_starts("abc", "ab") && text_starts("abc", "abc") && !text_starts("abc",
	    "abcd") &&
	    !text_starts("", "a"), "prefixes are recognised");
}

static void
test_buffers(void)
{
	struct buf b = { 0 };
	char *s;

	is_str(s = buf_take(&b), "", "an empty buffer gives an empty string");
	free(s);
	buf_add(&b, "", 0);
	buf_puts(&b, "a");
	buf_printf(&b, "%d%s", 12, "x");
	is_str(s = buf_take(&b), "a12x", "pieces are joined in order");
	free(s);
	ok(b.p == NULL && b.len == 0, "the buffer is empty after buf_take()");
	buf_puts(&b, "x");
	buf_add(&b, "y", SIZE_MAX / 2);
	ok(b.failed, "an impossible size fails");
	buf_puts(&b, "z");
	ok(buf_take(&b) == NULL, "the buffer stays failed");
	buf_puts(&b, "again");
	is_str(s = buf_take(&b), "again", "after buf_take(), the buffer is usable again");
	free(s);
}

static void
test_json(void)
{
	static const struct {
		const char *in, *out;
	} t[] = {
		{ "", "\"\"" }, { "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
		    { "\n\t\x01\x1f\x7f", "\"\\u000a\\u0009\\u0001\\u001f\\u007f\"" },
		{ "\xc3\xa4", "\"\xc3\xa4\"" }, { "\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\"" },
		{ "\xff" "a\xc3", "\"\\ufffda\\ufffd\"" }, { "<&>", "\"<&>\"" },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autobuf struct buf b = { 0 };
		json_t *j;

		buf_json(&b, t[i].in);
		is_str(b.p, t[i].out, "string %zu is written as JSON", i);
		j = json_loads(b.p, JSON_DECODE_ANY, NULL);
		if (text_is_utf8(t[i].in, strlen(t[i].in)))
			is_str(json_string_value(j), t[i].in,
			    "  the string is read back as it was");
		else
			ok(json_is_string(j), "  the text is read as a string");
		json_decref(j);
	}
}

static void
test_why(void)
{
	struct why why = { 0 };
	char longtext[2000];

	is_int(refuse(&why, WHY_DENIED, "no %s\n%d\x1b", "way\r", 7), -1, "refuse() returns -1");
	is_str(why.text, "no way??7?", "the reason is one printable line");
	is_int(why.code, WHY_DENIED, "the reason has its code");
	is_int(refuse_within(&why, "place"), -1, "refuse_within() returns -1");
	is_str(why.text, "place: no way??7?", "the reason begins with the place");
	is_int(why.code, WHY_DENIED, "the code stays");
	memset(longtext, 'x', sizeof(longtext) - 1);
	longtext[sizeof(longtext) - 1] = '\0';
	refuse(&why, WHY_DATA, "%s", longtext);
	is_int(strlen(why.text), sizeof(why.text) - 1, "a reason that is too long is truncated");
	refuse_within(&why, longtext);
	is_int(strlen(why.text), sizeof(why.text) - 1, "a place that is too long is truncated");
	memset(longtext, 'x', 600);
	memcpy(longtext + 510, "\xe2\x82\xac", 3);
	refuse(&why, WHY_DATA, "%s", longtext);
	ok(text_is_utf8(why.text, strlen(why.text)), "a truncated reason stays UTF-8");
	is_int(refuse_nomem(&why), -1, "refuse_nomem() returns -1");
	is_int(why.code, WHY_BUG, "the code of missing memory is WHY_BUG");
}

static void
test_hash(void)
{
	static const char *const none[] = { NULL }, *const empty[] = { "", NULL }, *const abc[] = { "abc", NULL };
	static const char *const two[] = { "a", "bc", NULL }, *const other[] = { "ab", "c", NULL };
	char x[65], y[65];

	hash_pieces(none, x);
	is_str(x, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	    "the hash of no piece is that of no bytes");
	hash_pieces(empty, y);
	is_str(y, x, "the hash of one empty piece is the same");
	hash_pieces(abc, x);
	is_str(x, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	    "the hash of one piece is that of its bytes");
	hash_pieces(two, x);
	is_str(x, "40bb547d936bbd31318ee37ac8799e7ecbb22eda2651f65e3214bffb8ce97bb4",
	    "the hash of two pieces is that of their bytes with a NUL between");
	hash_pieces(other, y);
	ok(strcmp(x, y) != 0, "pieces that are divided at another place have another hash");
}

int
main(void)
{
	test_utf8();
	test_printable();
	test_u64();
	test_u32();
	test_time();
	test_nearest();
	test_lists();
	test_buffers();
	test_json();
	test_why();
	test_hash();
	return done_testing();
}
