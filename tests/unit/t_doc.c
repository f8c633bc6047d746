/*
 * json/doc.c: which texts are JSON documents. Unchanged parts keep every byte. For random texts,
 * jansson gives the same answers.
 */
#include <jansson.h>
#include <time.h>

#include "base/cleanup.h"
#include "json/doc.h"
#include "rnd.h"
#include "tap.h"

/* A text that may contain a NUL. */
#define TEXT(s) (s), sizeof(s) - 1

static uint64_t seed = 20261120;

static bool
parses(const char *text, size_t len, struct why *why)
{
	autodoc struct doc d = { 0 };

	*why = (struct why){ 0 };
	return doc_parse(&d, text, len, why) == 0;
}

static void
test_accepted(void)
{
	static const char *const good[] = {
		"{}", "[]", " {} ", "\t\r\n[\n]\r", "0", "-0", "1", "-1", "12345678901234567890123456789", "0.10",
		    "1.0E+2",
		"1e400", "-1.5e-3", "0e0", "0E-0", "18446744073709551615", "\"\"", "\"\\u0000\"", "\"\\ud834\\udd1e\"",
		"\"\\uD834\\uDD1E\"", "\"\\ud800\\udc00\\udbff\\udfff\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\x7f\"",
		    "\"\xc2\x80\"", "\"\xef\xbf\xbf\"",
		"\"\xf4\x8f\xbf\xbf\"", "\"\xef\xbb\xbf\"", "true", "false", "null", "[true,false,null]",
		    "[[],[[]],{}]",
		"{\"\":0}", "{\"a\":{\"a\":{\"a\":[]}}}", "{\"a\":1,\"A\":2,\"\\u00e4\":3,\"a \":4}", "[1 , 2\t,\n3]",
		"{ \"a\" : 1 , \"b\" : 2 }", "[-0.0]", "[1,\"x\",{\"y\":[null]}]", "\"\\u002c\\uFFFF\\ue000\\ud7ff\"",
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(parses(good[i], strlen(good[i]), &why), "accepted: %s %s", good[i], why.text);
}

static void
test_refused(void)
{
	static const struct {
		const char *text;
		size_t len;
		const char *why;
	} bad[] = {
		{ TEXT(""), "line 1 column 1: not a JSON value" },
		{ TEXT(" \n "), "line 2 column 2: not a JSON value" },
		{ TEXT("\xef\xbb\xbf{}"), "line 1 column 1: not a JSON value" },
		{ TEXT("{} {}"), "line 1 column 4: more after the end of the document" },
		{ TEXT("{}\0"), "line 1 column 3: more after the end of the document" },
		{ TEXT("{}}"), "line 1 column 3: more after the end of the document" },
		{ TEXT("1 2"), "line 1 column 3: more after the end of the document" },
		{ TEXT("{}//x"), "line 1 column 3: more after the end of the document" },
		{ TEXT("/**/{}"), "line 1 column 1: not a JSON value" },
		{ TEXT("["), "line 1 column 2: not a JSON value" },
		{ TEXT("[1"), "line 1 column 3: expected ',' or the end of the list" },
		{ TEXT("[1 2]"), "line 1 column 4: expected ',' or the end of the list" },
		{ TEXT("[1,]"), "line 1 column 4: not a JSON value" },
		{ TEXT("[,1]"), "line 1 column 2: not a JSON value" },
		{ TEXT("[1,,2]"), "line 1 column 4: not a JSON value" },
		{ TEXT("[1}"), "line 1 column 3: expected ',' or the end of the list" },
		{ TEXT("]"), "line 1 column 1: not a JSON value" },
		{ TEXT("{"), "line 1 column 2: expected a key" },
		{ TEXT("{\"a\""), "line 1 column 5: expected ':'" },
		{ TEXT("{\"a\":"), "line 1 column 6: not a JSON value" },
		{ TEXT("{\"a\" 1}"), "line 1 column 6: expected ':'" },
		{ TEXT("{\"a\":1,}"), "line 1 column 8: expected a key" },
		{ TEXT("{a:1}"), "line 1 column 2: expected a key" },
		{ TEXT("{'a':1}"), "line 1 column 2: expected a key" },
		{ TEXT("{1:1}"), "line 1 column 2: expected a key" },
		{ TEXT("{\"a\":1 \"b\":2}"), "line 1 column 8: expected ',' or the end of the list" },
		{ TEXT("{\"a\":1]"), "line 1 column 7: expected ',' or the end of the list" },
		{ TEXT("{\n\"a\":\n x}"), "line 3 column 2: not a JSON value" },
		{ TEXT("01"), "line 1 column 2: more after the end of the document" },
		{ TEXT("-01"), "line 1 column 3: more after the end of the document" },
		{ TEXT("+1"), "line 1 column 1: not a JSON value" },
		{ TEXT("-"), "line 1 column 2: not a JSON value" },
		{ TEXT(".5"), "line 1 column 1: not a JSON value" },
		{ TEXT("1."), "line 1 column 3: a malformed number" },
		{ TEXT("1.e1"), "line 1 column 3: a malformed number" },
		{ TEXT("1e"), "line 1 column 3: a malformed number" },
		{ TEXT("1e+"), "line 1 column 4: a malformed number" },
		{ TEXT("1E-x"), "line 1 column 4: a malformed number" },
		{ TEXT("0x10"), "line 1 column 2: more after the end of the document" },
		{ TEXT("1_0"), "line 1 column 2: more after the end of the document" },
		{ TEXT("Infinity"), "line 1 column 1: not a JSON value" },
		{ TEXT("NaN"), "line 1 column 1: not a JSON value" },
		{ TEXT("-Infinity"), "line 1 column 2: not a JSON value" },
		{ TEXT("nul"), "line 1 column 1: not a JSON value" },
		{ TEXT("True"), "line 1 column 1: not a JSON value" },
		{ TEXT("truE"), "line 1 column 1: not a JSON value" },
		{ TEXT("fals"), "line 1 column 1: not a JSON value" },
		{ TEXT("[truefalse]"), "line 1 column 6: expected ',' or the end of the list" },
		{ TEXT("\""), "line 1 column 2: a string that does not end" },
		{ TEXT("\"abc"), "line 1 column 5: a string that does not end" },
		{ TEXT("\"\\\""), "line 1 column 4: a string that does not end" },
		{ TEXT("\"\\"), "line 1 column 3: an unknown escape" },
		{ TEXT("\"\\x41\""), "line 1 column 3: an unknown escape" },
		{ TEXT("\"\\'\""), "line 1 column 3: an unknown escape" },
		{ TEXT("\"\\U0041\""), "line 1 column 3: an unknown escape" },
		{ TEXT("\"\\\0\""), "line 1 column 3: an unknown escape" },
		{ TEXT("{\"\\\0\":1}"), "line 1 column 4: an unknown escape" },
		{ TEXT("\"\0\""), "line 1 column 2: a control byte in a string" },
		{ TEXT("\"a\nb\""), "line 1 column 3: a control byte in a string" },
		{ TEXT("\"\t\""), "line 1 column 2: a control byte in a string" },
		{ TEXT("\"\x1f\""), "line 1 column 2: a control byte in a string" },
		{ TEXT("\"\\u\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\u12\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\u123"), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\u123g\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\u+123\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\ud800\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\udc00\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\udfff\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\udbff\\ue000\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\ud800\\u0041\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\ud800\\ud800\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\ud800\\n0000\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\ud800x\""), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\\ud800\\udc0"), "line 1 column 3: a malformed \\u escape" },
		{ TEXT("\"\xff\""), "not UTF-8" },
		{ TEXT("\"\xc0\x80\""), "not UTF-8" },
		{ TEXT("\"\xed\xa0\x80\""), "not UTF-8" },
		{ TEXT("\"\xf4\x90\x80\x80\""), "not UTF-8" },
		{ TEXT("\"\xe2\x82\""), "not UTF-8" },
		{ TEXT("\xff\xfe{\0}\0"), "not UTF-8" },
		{ TEXT("\xc2\xa0{}"), "line 1 column 1: not a JSON value" },
		{ TEXT("\v{}"), "line 1 column 1: not a JSON value" },
		{ TEXT("\f{}"), "line 1 column 1: not a JSON value" },
		{ TEXT("{\"a\":1,\"a\":1}"), "the key \"a\" appears twice in one object" },
		{ TEXT("{\"b\":1,\"a\":1,\"c\":1,\"\\u0061\":2}"), "the key \"a\" appears twice in one object" },
		{ TEXT("[{\"x\":{\"k/\":1,\"k\\/\":1}}]"), "the key \"k/\" appears twice in one object" },
		{ TEXT("{\"\":1,\"\":1}"), "the key \"\" appears twice in one object" },
		{ TEXT("{\"\\u0000\":1,\"\\u0000\":1}"), "the key \"\" appears twice in one object" },
		{ TEXT("{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":1}"),
		    "the key \"\xf0\x9f\x98\x80\" appears twice in one object" },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok(!parses(bad[i].text, bad[i].len, &why), "refused: %s", bad[i].text);
		is_str(why.text, bad[i].why, "  the message says why");
	}
	ok(!parses("1", (size_t)INT32_MAX, &why),
	    "a text that is larger than any config.json is refused unread");
	is_str(why.text, "larger than 2 GiB", "  the message says why");
	is_int(why.code, WHY_DATA, "  the code says that the text is at fault");
}

/* Keys that differ, although one is a prefix of the other or they differ only after a NUL. */
static void
test_keys_apart(void)
{
	struct why why;

	ok(parses(TEXT("{\"a\":1,\"a\\u0000\":2,\"a\\u0000b\":3,\"aa\":4}"), &why),
	    "keys are compared as a whole: %s",
	    why.text);
	ok(parses(TEXT("[{\"a\":1},{\"a\":1}]"), &why), "two objects may have the same key");
	ok(parses(TEXT("{\"a\":{\"a\":1}}"), &why), "an inner object may have the same key");
}

static void
test_limits(void)
{
	autobuf struct buf b = { 0 };
	struct why why;
	int i;

	for (i = 0; i < DOC_DEPTH; i++)
		buf_puts(&b, "[");
	for (i = 0; i < DOC_DEPTH; i++)
		buf_puts(&b, "]");
	ok(parses(b.p, b.len, &why), "%d nested lists are accepted", DOC_DEPTH);
	buf_free(&b);
	for (i = 0; i <= DOC_DEPTH; i++)
		buf_puts(&b, i % 2 ? "{\"a\":" : "[");
	ok(!parses(b.p, b.len, &why), "%d nested lists and objects are refused", DOC_DEPTH + 1);
	is_str(why.text, "line 1 column 193: nested too deep", "  the message says where");
	buf_free(&b);

	buf_puts(&b, "[0");
	for (i = 2; i < DOC_NODES; i++)
		buf_puts(&b, ",0");
	buf_puts(&b, "]");
	ok(parses(b.p, b.len, &why), "%d values are accepted", DOC_NODES);
	b.p[b.len - 1] = ',';
	buf_puts(&b, "0]");
	ok(!parses(b.p, b.len, &why), "one value more is refused");
	ok(strstr(why.text, "too many values") != NULL, "  the message says why: %s", why.text);
	buf_free(&b);
	buf_puts(&b, "{\"k0\":0");
	for (i = 1; i < DOC_NODES / 2; i++)
		buf_printf(&b, ",\"k%d\":0", i);
	ok(!parses(b.p, b.len, &why) && strstr(why.text, "too many values") != NULL,
	    "keys count as values");
}

/* A text with many keys takes little time, whether the keys are sorted or not. */
static void
test_time(void)
{
	autobuf struct buf b = { 0 };
	struct why why;
	clock_t start;
	int i;

	for (i = 0; i < 190000; i++)
		buf_printf(&b, "%s\"\\u00%02xk%d\":0", i ? "," : "{", 0x41 + i % 26, i);
	buf_puts(&b, "}");
	start = clock();
	ok(parses(b.p, b.len, &why), "190000 keys are accepted: %s", why.text);
	ok(clock() - start < 2 * CLOCKS_PER_SEC, "they take less than two seconds");
	buf_free(&b);
	for (i = 0; i < 190000; i++)
		buf_puts(&b, i ? ",[" : "[[");
	start = clock();
	ok(!parses(b.p, b.len, &why), "brackets without end are refused");
	ok(clock() - start < 2 * CLOCKS_PER_SEC, "they take less than two seconds");
}

static void
test_strings(void)
{
	static const char text[] = "[\"plain\",\"\\u0041\\n\\u00e9\\u20ac\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\r\\t\","
	    "\"a\\u0000b\",7,"
	    "\"\",\"\\u00\\u0037f\"]";
	static const char good[] = "[\"plain\",\"\\u0041\\n\\u00e9\\u20ac\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\r\\t\","
	    "\"a\\u0000b\",7,"
	    "\"\",\"\\u007F\"]";
	autodoc struct doc d = { 0 };
	struct why why;
	uint32_t n;
	char *s;

	ok(!parses(TEXT(text), &why), "an escape within an escape is refused");
	if (!ok(doc_parse(&d, TEXT(good), &why) == 0, "a list of strings is read"))
		return;
	n = doc_first(&d, 0);
	is_str(s = doc_string(&d, n), "plain", "a plain string is read");
	free(s);
	ok(doc_equals(&d, n, "plain") && !doc_equals(&d, n, "plai") && !doc_equals(&d, n, "plainx") &&
	    !doc_equals(&d, n, ""), "a plain string equals no other string");
	n = doc_next(&d, n);
	is_str(s = doc_string(&d, n), "A\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\\/\b\f\r\t",
	    "a string with every escape is read");
	free(s);
	ok(doc_equals(&d, n, "A\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\\/\b\f\r\t"),
	    "an escaped string is compared by its value");
	n = doc_next(&d, n);
	ok(doc_string(&d, n) == NULL, "a string with a NUL has no C string");
	ok(!doc_equals(&d, n, "a") && !doc_equals(&d, n, "a\\u0000b"),
	    "a string with a NUL equals no part of it");
	n = doc_next(&d, n);
	ok(doc_string(&d, n) == NULL && !doc_equals(&d, n, "7"), "a number is not a string");
	n = doc_next(&d, n);
	ok(doc_equals(&d, n, ""), "an empty string equals itself");
	n = doc_next(&d, n);
	ok(doc_equals(&d, n, "\x7f"), "capital hex digits are read");
	ok(doc_next(&d, n) == DOC_NONE, "after the last element comes none");
	n = doc_next(&d, doc_first(&d, 0));
	ok(doc_contains(&d, n, "") && doc_contains(&d, n, "A\n\xc3\xa9\xe2\x82\xac") && !doc_contains(&d, n,
	    "A\n\xc3\xa9\xe2\x82\xad") &&
	    !doc_contains(&d, n, "A\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\\/\b\f\r\tx") && !doc_contains(&d, 0, ""),
	    "a string contains its beginning");
	ok(doc_contains(&d, n, "\n\xc3\xa9") && doc_contains(&d, n, "\r\t") && doc_contains(&d, n, "\t") &&
	    !doc_contains(&d, n, "\tx") && !doc_contains(&d, n, "\r\r"),
	    "a string contains its middle and its end");
	n = doc_next(&d, n);
	ok(doc_contains(&d, n, "a") && !doc_contains(&d, n, "ab"),
	    "the part before a NUL is found");
	ok(doc_contains(&d, n, "b"), "the part after a NUL is found");
	ok(doc_string(&d, DOC_NONE) == NULL && !doc_equals(&d, DOC_NONE, ""),
	    "a missing value is not a string");
}

static void
test_numbers(void)
{
	static const struct {
		const char *text;
		bool fits;
		int64_t value;
	} t[] = {
		{ "0", true, 0 }, { "-0", true, 0 }, { "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN }, { "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 }, { "18446744073709551615", false, 0 },
		{ "99999999999999999999", false, 0 }, { "1.0", false, 0 }, { "1e2", false, 0 }, { "1E2", false, 0 },
		{ "-12", true, -12 }, { "\"1\"", false, 0 }, { "null", false, 0 }, { "true", false, 0 },
		    { "[1]", false, 0 },
	};
	struct why why;
	int64_t v;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autodoc struct doc d = { 0 };

		v = 4711;
		ok(doc_parse(&d, t[i].text, strlen(t[i].text), &why) == 0 && doc_i64(&d, 0, &v) == t[i].fits,
		    "%s %s an int64", t[i].text, t[i].fits ? "is" : "is not");
		is_int(v, t[i].fits ? t[i].value : 4711,
		    "  the value is the expected one, or untouched");
	}
	ok(!doc_i64(&(struct doc){ 0 }, DOC_NONE, &v), "a missing value is not a number");
}

static void
test_tree(void)
{
	static const char text[] = "{\"a\":{\"b\":[1,2,3]},\"e\":[],\"o\":{},\"n\":null,\"\\u0062\":true,\"f\":false,"
	    "\"s\":\"\"}";
	autodoc struct doc d = { 0 };
	struct why why;
	uint32_t n;

	if (!ok(doc_parse(&d, TEXT(text), &why) == 0, "a nested document is read"))
		return;
	n = doc_get(&d, doc_get(&d, 0, "a"), "b");
	ok(doc_is(&d, n, DOC_ARRAY) && d.node[n].count == 3, "a path of keys leads to a value");
	ok(doc_is(&d, doc_get(&d, 0, "b"), DOC_TRUE), "a key is found by its unescaped name");
	ok(doc_is(&d, doc_get(&d, 0, "f"), DOC_FALSE) && doc_is(&d, doc_get(&d, 0, "n"), DOC_NULL) &&
	    doc_is(&d, doc_get(&d, 0, "s"), DOC_STRING) && doc_is(&d, doc_get(&d, 0, "o"), DOC_OBJECT) &&
	    doc_is(&d, doc_first(&d, n), DOC_NUMBER), "each value has its kind");
	ok(!doc_is(&d, n, DOC_OBJECT) && !doc_is(&d, DOC_NONE, DOC_NULL),
	    "a value has no other kind");
	ok(doc_get(&d, 0, "x") == DOC_NONE && doc_get(&d, n, "a") == DOC_NONE && doc_get(&d, DOC_NONE,
	    "a") == DOC_NONE &&
	    doc_get(&d, 0, "") == DOC_NONE && doc_get(&d, 0, "aa") == DOC_NONE,
	    "a missing key is not found");
	ok(doc_first(&d, doc_get(&d, 0, "e")) == DOC_NONE && doc_first(&d, doc_get(&d, 0, "o")) == DOC_NONE &&
	    doc_first(&d, doc_get(&d, 0, "n")) == DOC_NONE && doc_first(&d, DOC_NONE) == DOC_NONE,
	    "an empty or missing container has no first element");
	n = doc_first(&d, 0);
	ok(doc_equals(&d, n, "a") && doc_is(&d, doc_value(&d, n), DOC_OBJECT),
	    "the first key has its value");
	ok(doc_equals(&d, doc_next(&d, n), "e"), "the next key follows");
}

/* The text after the edits, which the caller frees. */
static char *
applied(const struct doc *d, struct doc_edits *e)
{
	size_t len = 0;
	char *s = doc_apply(d, e, &len);

	if (s != NULL && strlen(s) != len)
		ok(false, "doc_apply() returns the length of its text");
	return s;
}

static void
test_edits(void)
{
	static const char text[] = "{ \"big\" : 18446744073709551615, \"real\":0.10,\"huge\":1e400 , \"zero\":-0,"
	    "\"s\":\"\\u0041\\/\", \"empty\":{ }, \"list\":[1 , 2] }\n";
	autodoc struct doc d = { 0 };
	struct doc_edits e = { 0 };
	struct why why;
	uint32_t n;
	char *s;

	if (!ok(doc_parse(&d, TEXT(text), &why) == 0, "a document is read: %s", why.text))
		return;
	is_str(s = applied(&d, &e), text, "without edits every byte stays");
	free(s);
	doc_set(&e, &d, 0, "new", "[]");
	doc_set(&e, &d, 0, "list", "null");
	n = doc_get(&d, 0, "empty");
	doc_set(&e, &d, n, "a", "1");
	doc_set(&e, &d, n, "b\"", "2");
	doc_replace(&e, &d, doc_get(&d, 0, "big"), "\"x\"");
	doc_set(&e, &d, 0, "newer", "{}");
	is_str(s = applied(&d, &e), "{ \"big\" : \"x\", \"real\":0.10,\"huge\":1e400 , \"zero\":-0,"
	    "\"s\":\"\\u0041\\/\", "
	    "\"empty\":{ \"a\":1,\"b\\\"\":2}, \"list\":null ,\"new\":[],\"newer\":{}}\n",
	    "edits in any order are applied in the text's order, and all else stays");
	ok(s != NULL && parses(s, strlen(s), &why), "the result is still a document");
	free(s);
	doc_edits_free(&e);
	ok(e.n == 0 && e.v == NULL, "doc_edits_free() frees the edits");
}

static void
test_edits_empty(void)
{
	autodoc struct doc d = { 0 };
	autoedits struct doc_edits e = { 0 };
	struct why why;
	char *s;

	ok(doc_parse(&d, TEXT("{}"), &why) == 0, "an empty object is read");
	doc_set(&e, &d, 0, "a", "1");
	doc_set(&e, &d, 0, "b", "2");
	doc_set(&e, &d, 0, "c", "3");
	is_str(s = applied(&d, &e), "{\"a\":1,\"b\":2,\"c\":3}",
	    "members are added with commas, in order");
	free(s);
}

/* Adjacent edits, an edit of the whole document, and edits that must be refused. */
static void
test_edits_order(void)
{
	static const char text[] = "[[1],{\"a\":[]}]";
	autodoc struct doc d = { 0 };
	struct doc_edits e = { 0 };
	struct why why;
	uint32_t list, obj;
	char *s;

	ok(doc_parse(&d, TEXT(text), &why) == 0, "a document with adjacent elements is read");
	list = doc_first(&d, 0);
	obj = doc_next(&d, list);
	doc_set(&e, &d, obj, "b", "true");
	doc_replace(&e, &d, doc_get(&d, obj, "a"), "[0]");
	doc_replace(&e, &d, doc_first(&d, list), "11");
	is_str(s = applied(&d, &e), "[[11],{\"a\":[0],\"b\":true}]",
	    "an insertion right after a replacement is applied");
	free(s);
	doc_replace(&e, &d, list, "[]");
	ok(applied(&d, &e) == NULL, "overlapping edits are refused");
	doc_edits_free(&e);
	doc_replace(&e, &d, 0, "{}");
	is_str(s = applied(&d, &e), "{}", "the whole document is replaced");
	free(s);
	e.failed = true;
	ok(applied(&d, &e) == NULL, "edits that ran out of memory are refused");
	doc_edits_free(&e);
}

static void
test_lists(void)
{
	static const char text[] = "{\"l\":[ 1e400 , {\"k\" : [ ] } ],\"o\":{ \"a\" : 1.50 , \"\\u0062\":\"\\/\" }}";
	autodoc struct doc d = { 0 };
	struct doc_list l;
	struct why why;
	uint32_t n;
	char *s;

	ok(doc_parse(&d, TEXT(text), &why) == 0, "a document with lists is read");
	doc_list_begin(&l, '[');
	is_str(s = doc_list_end(&l), "[]", "an empty list is written");
	free(s);
	doc_list_begin(&l, '[');
	n = doc_first(&d, doc_get(&d, 0, "l"));
	doc_list_keep(&l, &d, n);
	doc_list_keep(&l, &d, doc_next(&d, n));
	doc_list_add(&l, "null");
	is_str(s = doc_list_end(&l), "[1e400,{\"k\" : [ ] },null]",
	    "kept elements keep every byte");
	free(s);
	doc_list_begin(&l, '{');
	n = doc_first(&d, doc_get(&d, 0, "o"));
	doc_list_add(&l, "\"z\":0");
	doc_list_keep(&l, &d, n);
	doc_list_keep(&l, &d, doc_next(&d, n));
	is_str(s = doc_list_end(&l), "{\"z\":0,\"a\" : 1.50,\"\\u0062\":\"\\/\"}",
	    "kept members keep every byte");
	free(s);
}

static bool same_value(const struct doc *d, uint32_t n, const json_t *j);

static bool
same_object(const struct doc *d, uint32_t n, const json_t *j)
{
	size_t members = 0;
	uint32_t k;

	for (k = doc_first(d, n); k != DOC_NONE; k = doc_next(d, k), members++) {
		autofree char *key = doc_string(d, k);

		if (key == NULL || !same_value(d, doc_value(d, k), json_object_get(j, key)))
			return false;
	}
	return members == json_object_size(j) && members == d->node[n].count;
}

/* Whether our tree is equal to jansson's. */
static bool
same_value(const struct doc *d, uint32_t n, const json_t *j)
{
	autofree char *s = NULL;
	int64_t v = 0;
	size_t i = 0;
	uint32_t k;

	if (j == NULL || n == DOC_NONE)
		return false;
	switch (json_typeof(j)) {
	case JSON_OBJECT:
		return doc_is(d, n, DOC_OBJECT) && same_object(d, n, j);
	case JSON_ARRAY:
		for (k = doc_first(d, n); k != DOC_NONE; k = doc_next(d, k), i++)
			if (!same_value(d, k, json_array_get(j, i)))
				return false;
		return doc_is(d, n, DOC_ARRAY) && i == json_array_size(j) && i == d->node[n].count;
	case JSON_STRING:
		s = doc_string(d, n);
		if (strlen(json_string_value(j)) != json_string_length(j))
			return doc_is(d, n, DOC_STRING) && s == NULL;
		return s != NULL && strcmp(s, json_string_value(j)) == 0 && doc_equals(d, n, s);
	case JSON_INTEGER:
		return doc_i64(d, n, &v) && v == json_integer_value(j);
	case JSON_REAL:
		return doc_is(d, n, DOC_NUMBER) && !doc_i64(d, n, &v);
	case JSON_TRUE:
		return doc_is(d, n, DOC_TRUE);
	case JSON_FALSE:
		return doc_is(d, n, DOC_FALSE);
	case JSON_NULL:
		return doc_is(d, n, DOC_NULL);
	}
	return false;
}

/* «taken», «refused», or how we differ from jansson. */
static const char *
compare(const char *text, size_t len)
{
	autodoc struct doc d = { 0 };
	json_error_t err = { 0 };
	struct why why = { 0 };
	bool ours = doc_parse(&d, text, len, &why) == 0, same;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &err);

	if (j != NULL) {
		same = ours && same_value(&d, 0, j);
		json_decref(j);
		/* jansson ignores a NUL after a number */
		if (!ours)
			return strstr(why.text, "nested too deep") != NULL || memchr(text, '\0', len) != NULL ?
			    "refused" : "we refuse a text that jansson accepts";
		return same ? "taken" : "we read another value";
	}
	if (!ours)
		return "refused";
	/* jansson cannot store such a number, or a key with a NUL */
	if (json_error_code(&err) == json_error_numeric_overflow ||
	    json_error_code(&err) == json_error_null_byte_in_key)
		return "taken";
	return "we accept a text that jansson refuses";
}

static size_t
mutate(char *out, size_t max, const char *from)
{
	static const char *const bits[] = { "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0000", "\\ud800", "\\udc00",
	    "\\u0061",
		"0", "-", ".", "e", "1e400", "true", "null", " ", "\n", "\x01", "\xc3", "\xa9", "\xef\xbb\xbf",
		    "\"a\":", "\"a\"",
		"18446744073709551615", "/", "\\/", "[[", "{\"a\":" };
	size_t len = strlen(from), i, at, n;
	const char *bit;

	memcpy(out, from, len);
	for (i = rnd(4); i > 0; i--) {
		at = rnd(len + 1);
		switch (rnd(5)) {
		case 0:		/* insert a bit */
			bit = bits[rnd(sizeof(bits) / sizeof(bits[0]))];
			n = strlen(bit);
			if (len + n >= max)
				break;
			memmove(out + at + n, out + at, len - at);
			memcpy(out + at, bit, n);
			len += n;
			break;
		case 1:		/* remove some bytes */
			n = rnd(4);
			n = n > len - at ? len - at : n;
			memmove(out + at, out + at + n, len - at - n);
			len -= n;
			break;
		case 2:		/* change a byte */
			if (at < len)
				out[at] = (char)rnd(256);
			break;
		case 3:		/* write a NUL */
			if (at < len)
				out[at] = '\0';
			break;
		default:	/* repeat a piece */
			n = rnd(12);
			n = n > len - at ? len - at : n;
			if (len + n >= max)
				break;
			memmove(out + at + n, out + at, len - at);
			len += n;
		}
	}
	return len;
}

/* Shows a random text that failed, in a form for the tables above. */
static void
show(int number, const char *what, const char *text, size_t len)
{
	autobuf struct buf b = { 0 };
	size_t i;

	for (i = 0; i < len; i++)
		buf_printf(&b, text[i] > ' ' && text[i] != 0x7f ? "%c" : "\\%03o", (unsigned char)text[i]);
	ok(false, "random text %d: %s: %s", number, what, b.p);
}

#if defined(__SANITIZE_ADDRESS__)
#define TEXTS 100000	/* fewer with a sanitizer, which is slow */
#else
#define TEXTS 400000
#endif

static void
test_against_jansson(void)
{
	static const char *const seeds[] = {
		"{}", "[]", "[1,-2,3.5e-7,\"x\",true,false,null]",
		    "{\"a\":{\"b\":[{\"c\":\"\\u00e9\\n\"}]},\"d\":[[],{}]}",
		"{\"process\":{\"env\":[\"A=1\",\"B=\\\"\\\\\"],\"user\":{\"uid\":0}},\"n\":18446744073709551615}",
		" { \"a\" : [ 0 , 1 ] , \"\\u0061b\" : \"\\ud83d\\ude00\" } ", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
		    "-0.0E+10",
		"[\"\xc3\xa9\",\"\xe2\x82\xac\",\"\xf0\x9f\x98\x80\"]", "{\"a\":1,\"b\":2,\"c\":3}",
	};
	unsigned taken = 0, refused = 0, differ = 0;
	char text[512];
	const char *r;
	size_t len;
	int i;

	for (i = 0; i < TEXTS; i++) {
		len = mutate(text, sizeof(text), seeds[rnd(sizeof(seeds) / sizeof(seeds[0]))]);
		r = compare(text, len);
		taken += strcmp(r, "taken") == 0;
		refused += strcmp(r, "refused") == 0;
		if (strcmp(r, "taken") != 0 && strcmp(r, "refused") != 0 && differ++ < 5)
			show(i, r, text, len);
	}
	is_int(differ, 0,
	    "%d random texts: we and jansson accept the same texts and read the same values",
	    TEXTS);
	ok(taken > TEXTS / 8 && refused > TEXTS / 8,
	    "enough texts of both kinds come up (%u accepted, %u refused)", taken, refused);
	is_str(compare(TEXT("[1e400]")), "taken", "a number that jansson cannot store is accepted");
	is_str(compare(TEXT("{\"\\u0000\":1}")), "taken", "a key with a NUL is accepted");
}

int
main(void)
{
	test_accepted();
	test_refused();
	test_keys_apart();
	test_limits();
	test_time();
	test_strings();
	test_numbers();
	test_tree();
	test_edits();
	test_edits_empty();
	test_edits_order();
	test_lists();
	test_against_jansson();
	return done_testing();
}
