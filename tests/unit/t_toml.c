/*
 * ctl/worker/toml.c, tomltext.c: reads TOML 1.0, and refuses all else, in the manner of the suite toml-test: texts that
 * are valid, with what they say, and texts that are not, with the line of the fault.
 */
#include "base/cleanup.h"
#include "ctl/worker/toml.h"
#include "tap.h"

struct valid {
	const char *what, *text;
	const char *path[5];	/* names that lead to a string, or to a list whose first string counts */
	const char *is;		/* NULL: there is none */
};

static const struct valid valid[] = {
	{ "a bare key", "a-1_b = \"x\" # y\n", { "a-1_b" }, "x" },
	{ "no end of the last line", "a = 'x'", { "a" }, "x" },
	{ "line ends of Windows, and a mark of UTF-8", "\xef\xbb\xbf" "a = 1\r\nb = 'x'\r\n", { "b" }, "x" },
	{ "an empty text", "", { "a" }, NULL },
	{ "a comment alone", "# a = 'x'", { "a" }, NULL },
	{ "a # in a string", "a = \"x # y\"", { "a" }, "x # y" },
	{ "an empty key", "\"\" = 'x'", { "" }, "x" },
	{ "a quoted key", "\"a.b\" = 'x'", { "a.b" }, "x" },
	{ "a quoted key is no dotted key", "\"a.b\" = 'x'", { "a", "b" }, NULL },
	{ "a literal key", "'a\"b' = 'x'", { "a\"b" }, "x" },
	{ "an escape in a key", "\"a\\u0062\" = 'x'", { "ab" }, "x" },
	{ "a dotted key with spaces", "a . \"b\" .c = 'x'", { "a", "b", "c" }, "x" },
	{ "a dotted key within a table", "[t]\na.b = 1\na.c = 'x'", { "t", "a", "c" }, "x" },
	{ "a number as a key", "1.2 = 'x'", { "1", "2" }, "x" },
	{ "escapes", "a = \"\\b\\t\\n\\f\\r\\\"\\\\\"", { "a" }, "\b\t\n\f\r\"\\" },
	{ "escapes of characters", "a = \"\\u00e9\\u20AC\\U0001F600\"", { "a" }, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "no escapes in a literal string", "a = 'C:\\new'", { "a" }, "C:\\new" },
	{ "a string of several lines", "a = \"\"\"\nx\n y\"\"\"", { "a" }, "x\n y" },
	{ "lines that a backslash joins", "a = \"\"\"x\\  \n\n   y\"\"\"", { "a" }, "xy" },
	{ "quotation marks in several lines", "a = \"\"\"x\"\"y\"\"\"\"\"", { "a" }, "x\"\"y\"\"" },
	{ "a literal string of several lines", "a = '''\nx\\\n'y''''", { "a" }, "x\\\n'y'" },
	{ "what looks like a table in a string", "a = '''\n[t]\nb = 'x'\n'''\n", { "t", "b" }, NULL },
	{ "a key after such a string", "a = '''\n[t]\n'''\nb = 'x'", { "b" }, "x" },
	{ "a list in one line", "a = [ 'x', \"y\" ]", { "a" }, "x" },
	{ "a list of several lines with comments", "a = [ # ]\n  'x' # ,\n  , 2,\n]\nb = 'y'", { "b" }, "y" },
	{ "a list with a ] in a string", "a = [ ']', 'y' ]\nb = 'x'", { "b" }, "x" },
	{ "a list in a list is not its own", "a = [ [ 'y' ], { k = 'z' }, 'x' ]", { "a" }, "x" },
	{ "an inline table", "a = { b = 'y', c.d = 'x' }", { "a", "c", "d" }, "x" },
	{ "an empty inline table", "a = {}\nb = 'x'", { "b" }, "x" },
	{ "a table", "[ a . 'b' ]\nc = 'x'", { "a", "b", "c" }, "x" },
	{ "a table after its own part", "[a.b]\n[a]\nc = 'x'", { "a", "c" }, "x" },
	{ "a part of a dotted key's table", "[a]\nb.c = 1\n[a.b.d]\ne = 'x'", { "a", "b", "d", "e" }, "x" },
	{ "tables in a list", "[[a]]\nb = 'y'\n[[a]]\n[a.c]\nd = 'x'\n[t]\ne = 'z'", { "t", "e" }, "z" },
	{ "plain values", "a = [ -1_000, +0, 0xdead_BEEF, 0o7, 0b1, 1e-3, 3.14, inf, -nan, true, false ]\nb = 'x'", { "b" }, "x" },
	{ "dates", "a = [ 1979-05-27T07:32:00.5-08:00, 1979-05-27 07:32:00Z, 1979-05-27, 07:32:00 ]\nb = 'x'", { "b" }, "x" },
	{ "numbers in other forms", "a = [ 1_2_3, 0e0, -0.0, 6.022E+23, 1_0.0_1e-0_1, +nan, 0xDEADbeef, 0b1_0 ]\nb = 'x'", { "b" }, "x" },
	{ "dates in other forms", "a = [ 1979-05-27t07:32:00z, 1979-05-27 07:32:00.123456+00:00, 07:32:00.5 ] \nb = 'x'", { "b" }, "x" },
	{ "a value before a comment without a space", "a = 1# x\nb = true#\nc = 'x'#y", { "c" }, "x" },
	{ "several lines within an inline table", "a = { b = \"\"\"\nx\ny\"\"\", c = [\n 1,\n ] }", { "a", "b" }, "x\ny" },
	{ "a table of a part of a list of tables", "[[a.b]]\n[a]\nc = 'x'", { "a", "c" }, "x" },
	{ "a table in the last of several", "[[a]]\n[a.b]\nc = 'y'\n[[a]]\n[a.b]\nc = 'z'\n[d]\ne = 'x'", { "d", "e" }, "x" },
	{ "keys that look like values", "true = 'y'\n1979-05-27 = 'x'", { "1979-05-27" }, "x" },
	{ "a day with a comment", "a = 1979-05-27 # x\nb = 'x'", { "b" }, "x" },
};

#define NUMBER "1: no number or date is written so (10, 0x1f, 1.5e3, 2006-01-02T15:04:05Z); a string needs quotation marks"

static const struct {
	const char *text;
	const char *why;	/* after «f:» */
} invalid[] = {
	{ "a", "1: a key needs = and a value" },
	{ "\n\na = ", "3: there is no value" },
	{ "a = # x", "1: there is no value" },
	{ "= 'x'", "1: there is no key" },
	{ "a b = 'x'", "1: a key needs = and a value" },
	{ "a = 'x' b = 'y'", "1: something stands where the line should end" },
	{ "a = x", "1: a string needs quotation marks" },
	{ "a = tru", "1: a string needs quotation marks" },
	{ "a = /srv", "1: there is no value" },
	{ "a = 'x\nb = 'y'", "1: a control character in a string, or a string without an end" },
	{ "a = \"x", "1: a control character in a string, or a string without an end" },
	{ "b = 1\na = \"\"\"x\ny", "2: a string that begins here has no end" },
	{ "a = '''x''", "1: a string that begins here has no end" },
	{ "a = \"\"\"x\"\"\"\"\"\"", "1: something stands where the line should end" },
	{ "\"\"\"a\"\"\" = 'x'", "1: a key may not have several lines" },
	{ "a = \"\\x41\"", "1: there is no such escape: \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX" },
	{ "a = \"\"\"\n\n\\ x\"\"\"", "3: there is no such escape: \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX" },
	{ "a = \"\\u12\"", "1: \\u needs four and \\U eight hexadecimal digits" },
	{ "a = \"\\ud800\"", "1: \\u and \\U need a character that is not NUL" },
	{ "a = \"\\U00110000\"", "1: \\u and \\U need a character that is not NUL" },
	{ "a = \"\\u0000\"", "1: \\u and \\U need a character that is not NUL" },
	{ "a = 1\na = 2", "2: the key is there already" },
	{ "a = 1\n\"a\" = 2", "2: the key is there already" },
	{ "a.b = 1\na = 2", "2: the key is there already" },
	{ "a = 1\na.b = 2", "2: the key leads through a value or another table" },
	{ "[a.b]\n[a]\nb.c = 1", "3: the key leads through a value or another table" },
	{ "[a]\n[a]", "2: the table is there already" },
	{ "[a]\nb.c = 1\n[a.b]", "3: the table is there already" },
	{ "a = {}\n[a]", "2: the table is there already" },
	{ "a = { b = 1 }\na.c = 2", "2: the key leads through a value or another table" },
	{ "a = { b = 1 }\n[a.c]", "2: the name leads through a value" },
	{ "a = [ {} ]\n[[a]]", "2: the name is another value's" },
	{ "[a]\n[[a]]", "2: the name is another value's" },
	{ "[[a]]\n[a]", "2: the table is there already" },
	{ "[a", "1: a table's name has no closing bracket" },
	{ "[[a]", "1: a table's name has no closing bracket" },
	{ "[ [a]]", "1: there is no key" },
	{ "[]", "1: there is no key" },
	{ "[a] b = 1", "1: something stands where the line should end" },
	{ "[a.]", "1: there is no key" },
	{ "a = [ 1 2 ]", "1: a list needs a comma or ] here" },
	{ "a = [ 1, , 2 ]", "1: there is no value" },
	{ "a = [\n 'x',\n", "3: there is no value" },
	{ "a = { b = 1,\n c = 2 }", "1: there is no key" },
	{ "a = { b = 1, }", "1: there is no key" },
	{ "a = { b = 1\n}", "1: an inline table needs a comma or } here, on the same line" },
	{ "a = { b = 1, b = 2 }", "1: the key is there already" },
	{ "a = x1", "1: a string needs quotation marks" },
	{ "a = true1", "1: a string needs quotation marks" },
	{ "a = True", "1: a string needs quotation marks" },
	{ "a = infinity", "1: a string needs quotation marks" },
	{ "a = _1", "1: a string needs quotation marks" },
	{ "a = 1__2", NUMBER },
	{ "a = 1_", NUMBER },
	{ "a = 012", NUMBER },
	{ "a = +-1", NUMBER },
	{ "a = +true", NUMBER },
	{ "a = 1.", NUMBER },
	{ "a = .7", "1: a string needs quotation marks" },
	{ "a = 1.e2", NUMBER },
	{ "a = 1e", NUMBER },
	{ "a = 1.2.3", NUMBER },
	{ "a = 1.5_", NUMBER },
	{ "a = 0x", NUMBER },
	{ "a = 0xg", NUMBER },
	{ "a = +0x1", NUMBER },
	{ "a = 0b12", NUMBER },
	{ "a = 0O7", NUMBER },
	{ "a = 10GB", NUMBER },
	{ "a = 1979-5-27", NUMBER },
	{ "a = 1979-05-27T", NUMBER },
	{ "a = 1979-05-27T07:32", NUMBER },
	{ "a = 1979-05-27T07:32:00.", NUMBER },
	{ "a = 1979-05-27T07:32:00+1", NUMBER },
	{ "a = 07:32:00Z", NUMBER },
	{ "a = 1979-05-27 07", "1: something stands where the line should end" },
	{ "a = [ 1979-05-27  07:32:00 ]", "1: a list needs a comma or ] here" },
	{ "\xc3\xa9 = 1", "1: there is no key" },
	{ "a = \"\\e\"", "1: there is no such escape: \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX" },
	{ "a = \"x\\\n y\"", "1: there is no such escape: \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX" },
	{ "a = '''x\ry'''", "1: a control character in a string" },
	{ "[[a]]\nb = 1\n[a.b]", "3: the table is there already" },
	{ "a = [ 1 ]\n[a.b]", "2: the name leads through a value" },
	{ "[a.b.c]\n[a]\nb.c.d = 1", "3: the key leads through a value or another table" },
	{ "[a\n]", "1: a table's name has no closing bracket" },
	{ "a = { b = 1 } c", "1: something stands where the line should end" },
	{ "a.\nb = 1", "1: there is no key" },
	{ "a\n= 1", "1: a key needs = and a value" },
	{ "a =\n1", "1: there is no value" },
	{ "a = 1 # \x01", "1: something stands where the line should end" },
	{ "a = 1\rb = 2", "1: something stands where the line should end" },
};

static void
is_valid(const struct valid *v)
{
	struct why why;
	autotoml struct toml *t = toml_parse(v->text, strlen(v->text), "f", &why);
	const struct strlist *got = toml_strings(toml_find(t, v->path[0], v->path[1], v->path[2], v->path[3]));

	ok(t != NULL, "%s: is read%s%s", v->what, t != NULL ? "" : ": ", t != NULL ? "" : why.text);
	is_str(got != NULL && got->n > 0 ? got->v[0] : NULL, v->is, "%s: is understood", v->what);
}

/* What is too much is refused. */
static void
test_limits(void)
{
	autobuf struct buf deep = { 0 }, many = { 0 };
	autotoml struct toml *t = NULL;
	struct why why;
	size_t i;

	buf_puts(&deep, "a = ");
	for (i = 0; i < 1000000; i++)
		buf_puts(&deep, "[");
	ok(toml_parse(deep.p, deep.len, "f", &why) == NULL, "a million lists within each other are refused");
	is_str(why.text, "f:1: too many levels", "  and the reason is told");
	for (i = 0; i < 10001; i++)
		buf_printf(&many, "k%zu = 1\n", i);
	ok(toml_parse(many.p, many.len, "f", &why) == NULL, "too many keys are refused");
	is_str(why.text, "f:10001: too many keys", "  with the line");
	ok(toml_parse("a = 1\n\0b = 2", 12, "f", &why) == NULL && toml_parse("a = '\xff'", 7, "f", &why) == NULL,
	    "a text with a NUL byte, or not in UTF-8, is refused");
	t = toml_parse("a = [ 'x', 3, \"y\" ]\nb = 3", 25, "f", &why);
	ok(t != NULL && toml_strings(toml_find(t, "a"))->n == 2 && toml_strings(toml_find(t, "b")) == NULL &&
	    toml_find(t, "a", "x") == NULL, "a list gives its strings, and a number gives none");
}

int
main(void)
{
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
		is_valid(&valid[i]);
	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		ok(toml_parse(invalid[i].text, strlen(invalid[i].text), "f", &why) == NULL, "invalid text %zu is refused", i);
		is_str(why.text + 2, invalid[i].why, "  with line and reason");
	}
	test_limits();
	return done_testing();
}
