/*
 * base/path.c: each path has one spelling, paths are compared by components, and patterns never
 * match a slash.
 */
#include <fnmatch.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/pathdepth.h"
#include "base/pathshort.h"
#include "rnd.h"
#include "tap.h"

static uint64_t seed = 1;

static void
test_check(void)
{
	static const char *const good[] = { "/", "/a", "/srv/data", "/...", "/a/..b", "/a/b..", "/.a", "/a/.b/c.",
	    "/a b",
		"/\xc3\xa4", "/a\\b", "/*", "/a?", "/-", "/~" };
	static const struct {
		const char *path, *why;
	} bad[] = {
		{ "", "path \"\" is not absolute" },
		{ "a", "path \"a\" is not absolute" },
		{ "./a", "path \"./a\" is not absolute" },
		{ "../a", "path \"../a\" is not absolute" },
		{ "~/a", "path \"~/a\" is not absolute" },
		{ "//", "path \"//\" has an empty component or ends with \"/\"" },
		{ "/a/", "path \"/a/\" has an empty component or ends with \"/\"" },
		{ "/a//b", "path \"/a//b\" has an empty component or ends with \"/\"" },
		{ "//a", "path \"//a\" has an empty component or ends with \"/\"" },
		{ "/.", "path \"/.\" has a \".\" or \"..\" in it" },
		{ "/..", "path \"/..\" has a \".\" or \"..\" in it" },
		{ "/a/.", "path \"/a/.\" has a \".\" or \"..\" in it" },
		{ "/a/../b", "path \"/a/../b\" has a \".\" or \"..\" in it" },
		{ "/a/./b", "path \"/a/./b\" has a \".\" or \"..\" in it" },
		{ "/a\nb", "path \"/a?b\" has a control byte in it" },
		{ "/a\x7f", "path \"/a?\" has a control byte in it" },
		{ "/\x01", "path \"/?\" has a control byte in it" },
		{ "/a\xff", "path \"/a?\" is not UTF-8" },
		{ "/\xc0\xaf", "path \"/??\" is not UTF-8" },
	};
	char longpath[1200];
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(path_check(good[i], &why) == 0, "the path is accepted: %s", good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why = (struct why){ 0 };
		ok(path_check(bad[i].path, &why) == -1, "the path is refused: %s", bad[i].path);
		is_str(why.text, bad[i].why, "  the message says why");
	}
	memset(longpath, 'x', sizeof(longpath));
	longpath[0] = '/';
	longpath[256] = '\0';
	ok(path_check(longpath, &why) == 0, "a component of 255 bytes is accepted");
	longpath[256] = 'x';
	longpath[257] = '\0';
	ok(path_check(longpath, &why) == -1 && strstr(why.text, "component longer than 255") != NULL,
	    "a component of 256 bytes is refused");
	longpath[257] = '/';
	for (i = 0; i < sizeof(longpath); i += 100)
		longpath[i] = '/';
	longpath[257] = 'x';
	longpath[1023] = '\0';
	ok(path_check(longpath, &why) == 0, "a path of 1023 bytes is accepted: %s", why.text);
	longpath[1023] = 'x';
	longpath[1024] = '\0';
	ok(path_check(longpath, &why) == -1 && strstr(why.text, "longer than 1023") != NULL,
	    "a path of 1024 bytes is refused");
}

static void
test_beneath(void)
{
	static const struct {
		const char *path, *dir;
		bool at, beneath;
	} t[] = {
		{ "/srv", "/srv", true, false }, { "/srv/a", "/srv", true, true }, { "/srvx", "/srv", false, false },
		{ "/sr", "/srv", false, false }, { "/srv", "/srv/a", false, false },
		    { "/srv/a/b", "/srv/a", true, true },
		{ "/srv/ab", "/srv/a", false, false }, { "/", "/", true, false }, { "/a", "/", true, true },
		{ "/", "/a", false, false }, { "/Srv", "/srv", false, false }, { "/srv.", "/srv", false, false },
	};
	static const char *const parents[][2] = { { "/", "/" }, { "/a", "/" }, { "/a/b", "/a" }, { "/srv/data/x", "/srv/data" } };
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ok(path_at_or_beneath(t[i].path, t[i].dir) == t[i].at, "%s %s at or beneath %s", t[i].path,
		    t[i].at ? "is" : "is not", t[i].dir);
		ok(path_is_beneath(t[i].path, t[i].dir) == t[i].beneath, "  and %s beneath it", t[i].beneath ? "is" :
		    "is not");
	}
	ok(path_related("/a", "/a/b") && path_related("/a/b", "/a") && path_related("/a", "/a") && path_related("/",
	    "/x") &&
	    !path_related("/a", "/ab") && !path_related("/a/b", "/a/c"),
	    "two paths are related if one is at or beneath the other");
	is_int(path_depth("/"), 0, "the depth of / is 0");
	is_int(path_depth("/a"), 1, "the depth of /a is 1");
	is_int(path_depth("/a/b/c"), 3, "the depth of /a/b/c is 3");
	is_str(path_last("/a/b"), "b", "the last component of /a/b is b");
	is_str(path_last("/a"), "a", "the last component of /a is a");
	is_str(path_last("/"), "", "the last component of / is empty");
	for (i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		autofree char *parent = path_parent(parents[i][0]);

		is_str(parent, parents[i][1], "the parent of \"%s\" is \"%s\"", parents[i][0], parents[i][1]);
	}
}

static void
test_glob(void)
{
	static const struct {
		const char *pattern, *name;
		bool match;
	} t[] = {
		{ "", "", true }, { "", "a", false }, { "a", "", false }, { "*", "", true }, { "*", "abc", true },
		    { "**", "a", true },
		{ "?", "", false }, { "?", "a", true }, { "?", "ab", false }, { "??", "ab", true }, { "a*", "a", true },
		{ "a*", "ba", false }, { "*a", "ba", true }, { "*a", "ab", false }, { "a*b", "ab", true },
		    { "a*b", "axxb", true },
		{ "a*b", "axxbc", false }, { "*a*b*", "xaxbx", true }, { "*a*b*", "xbxax", false },
		    { "*ab", "aab", true },
		{ "*aab", "aaab", true }, { "a?c", "abc", true }, { "a?c", "ac", false },
		{ "*", "a/b", false }, { "*", "/", false }, { "?", "/", false }, { "a?b", "a/b", false },
		    { "*/*", "a/b", true },
		{ "*/*", "a/b/c", false }, { "a*", "a/b", false }, { "*b", "a/b", false }, { "*a/b", "xa/b", true },
		{ "*a/b", "xa/c", false }, { "*/b", "/b", true }, { "a/*", "a/", true },
		{ "[a]", "a", false }, { "[a]", "[a]", true }, { "\\*", "*", false }, { "\\*", "\\x", true },
		    { "{a,b}", "a", false },
		{ "A", "a", false }, { ".*", ".a", true }, { "*", ".a", true }, { "fit-*", "fit-", true },
		    { "fit-*", "fit", false },
		{ "?", "\xc3", true }, { "*", "\xc3\xa4", true },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ok(glob_match(t[i].pattern, t[i].name) == t[i].match, "%s %s %s", t[i].pattern,
		    t[i].match ? "matches" : "does not match", t[i].name);
	ok(glob_is("*") && glob_is("a?") && !glob_is("a") && !glob_is("") && !glob_is("[a]"),
	    "only * and ? make a pattern");
}

/* The definition of a match, written without regard to speed. */
static bool
slow_match(const char *p, const char *s)
{
	if (*p == '\0')
		return *s == '\0';
	if (*p == '*')
		return slow_match(p + 1, s) || (*s != '\0' && *s != '/' && slow_match(p, s + 1));
	return *s != '\0' && (*p == *s || (*p == '?' && *s != '/')) && slow_match(p + 1, s + 1);
}

static void
test_glob_random(void)
{
	unsigned matches = 0, wrong = 0, other = 0;
	char p[12], s[12];
	size_t n, i;
	bool m;
	int k;

	for (k = 0; k < 300000; k++) {
		n = rnd(8);
		for (i = 0; i < n; i++)
			p[i] = "aab/**?"[rnd(7)];
		p[n] = '\0';
		n = rnd(10);
		for (i = 0; i < n; i++)
			s[i] = "aaab/"[rnd(5)];
		s[n] = '\0';
		m = glob_match(p, s);
		matches += m;
		other += m != (fnmatch(p, s, FNM_PATHNAME | FNM_NOESCAPE) == 0);
		if (m != slow_match(p, s) && wrong++ < 5)
			ok(false, "glob_match(\"%s\", \"%s\") is right", p, s);
	}
	is_int(wrong, 0, "300000 random patterns match what the definition says");
	is_int(other, 0, "300000 random patterns match what fnmatch(3) says");
	ok(matches > 10000, "many of the random patterns match (%u)", matches);
}

static void
test_glob_time(void)
{
	static char pattern[2001], name[10001];
	clock_t start = clock();
	size_t i;

	for (i = 0; i + 1 < sizeof(pattern) - 1; i += 2)
		memcpy(pattern + i, "*a", 2);
	memcpy(pattern + sizeof(pattern) - 2, "b", 2);
	memset(name, 'a', sizeof(name) - 1);
	ok(!glob_match(pattern, name), "a pattern that is hard for a slow matcher does not match");
	ok(clock() - start < CLOCKS_PER_SEC / 2, "the answer takes less than half a second");
}

static void
test_last(void)
{
	is_str(path_last("/usr/lib/a"), "a", "the last component of a path");
	is_str(path_last("/"), "", "of the root");
	is_str(path_last("tmpfs"), "tmpfs", "of a source that is no path");
}

static void
test_short(void)
{
	char out[24];

	is_str(path_short("/usr/lib/libcuda.so.1", out, 22), "/usr/lib/libcuda.so.1", "a path that fits stays");
	is_str(path_short("/usr/lib64/libcuda.so.1", out, 22), "/usr/l...libcuda.so.1", "one that does not fit lacks its middle");
	is_str(path_short("/\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4/x", out, 16),
	    "/\xc3\xa4...\xc3\xa4\xc3\xa4\xc3\xa4/x", "no character of UTF-8 is cut in two");
}

int
main(void)
{
	test_check();
	test_beneath();
	test_glob();
	test_glob_random();
	test_glob_time();
	test_last();
	test_short();
	return done_testing();
}
