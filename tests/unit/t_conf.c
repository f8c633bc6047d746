/*
 * read/conf/conf.c, read/conf/policyread.c and read/conf/settingsread.c: a file is read exactly, or it is refused
 * with all its errors and their lines.
 */
#include <time.h>

#include "base/cleanup.h"
#include "gpu/extranode.h"
#include "judge/instancevar.h"
#include "policy/claimsetadd.h"
#include "policy/faultsrefuse.h"
#include "policy/policy.h"
#include "policy/settings.h"
#include "read/conf/conf.h"
#include "read/conf/policyread.h"
#include "read/conf/settingsread.h"
#include "tap.h"

const char *__lsan_default_suppressions(void);

/* libconfig 1.5 leaks the string that it reads when a syntax error comes. */
const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig.so";
}

#define TEXT(s) (s), sizeof(s) - 1
/*
 * Line 1 of a policy that is complete without its other lines; then policies whose tested line is
 * line 2.
 */
#define P "pipeline = \"a/b\"; folders = ( { path = \"/srv/x\"; } );\n"
#define C "identity = \"caller\"; callers = [ \"me\" ]; folders = ( { path = \"/srv/x\"; } );\n"
#define IN_GPU(s) "pipeline = \"a/b\"; gpus = (\n{ vendor = \"amd\"; " s " } );\n"
#define IN_FOLDER(s) "pipeline = \"a/b\"; folders = (\n{ " s " } );\n"

/*
 * Each fault as «LINE: text», with «warning: » before the text of a warning. The caller frees the
 * result.
 */
static char *
listed(const struct faults *f)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < f->n; i++)
		buf_printf(&b, "%s%u: %s%s", i ? "\n" : "", f->v[i].line, f->v[i].warning ? "warning: " : "",
		    f->v[i].text);
	return buf_take(&b);
}

static char *
policy_faults(const char *text, size_t len, bool *good)
{
	autofaults struct faults f = { 0 };
	autopolicy struct policy p;

	*good = policy_parse("10-x.conf", text, len, &p, &f);
	return listed(&f);
}

static char *
settings_faults(const char *text, size_t len, bool *good)
{
	autofaults struct faults f = { 0 };
	autosettings struct settings s;

	*good = settings_parse(text, len, &s, &f);
	return listed(&f);
}

struct wrong {
	const char *text;
	size_t len;
	const char *faults;
};

static void
check_refused(const struct wrong *t, size_t n, bool settings)
{
	size_t i;

	for (i = 0; i < n; i++) {
		autofree char *faults = NULL;
		bool good;

		faults = settings ? settings_faults(t[i].text, t[i].len, &good) : policy_faults(t[i].text, t[i].len,
		    &good);
		ok(!good, "refused: %.100s", t[i].text);
		is_str(faults, t[i].faults, "  with all its faults");
	}
}

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define NO_QUOTE "a double quote (\") is missing on this line: a string begins and ends on one line"

/*
 * Texts that libconfig accepts although they may not mean what they seem to, and texts that it
 * refuses.
 */
static void
test_text_refused(void)
{
	static const struct wrong t[] = {
		{ TEXT(P "/* jobs = [ \"fit\" ];\n# */\n/* no end\n"), "4: this comment has no end" },
		{ TEXT(P "/*/\n"), "2: this comment has no end" },
		{ TEXT(P "/* *"), "2: this comment has no end" },
		{ TEXT(P "/*"), "2: this comment has no end" },
		{ TEXT(P "@include \"x.conf\"\n"), "2: @include is not allowed: each file must be complete" },
		{ TEXT(P "  \t@include \"x.conf\"\n"), "2: @include is not allowed: each file must be complete" },
		{ TEXT(P "identity = @include \"x\";\n"), "2: @include is not allowed: each file must be complete" },
		{ TEXT(P "/* \"*/ @include \"x.conf\" // \"\n"),
		    "2: @include is not allowed: each file must be complete" },
		{ TEXT(P "jobs = [ \"a\0\" ];"), "2: not text: this line has a NUL byte" },
		{ TEXT(P "\n\0"), "3: not text: this line has a NUL byte" },
		{ TEXT(P "jobs = [ \"\xff\" ];"), "2: not UTF-8 text: save the file as UTF-8" },
		{ TEXT(P "# \xe9\n"), "2: not UTF-8 text: save the file as UTF-8" },
		{ TEXT("\xef\xbb\xbf" P), "1: the file begins with a byte order mark (U+FEFF): save it as UTF-8 "
		    "without one" },
		{ TEXT(P "jobs = [ \"a\nb\" ];"), "2: " NO_QUOTE },
		{ TEXT(P "jobs = [ \"a\tb\" ];"), "2: a string may hold no control byte (there is a tab in this one)" },
		{ TEXT(P "\njobs = [ \"a\r\" ];"), "3: a string may hold no control byte" },
		{ TEXT(P "jobs = [ \"a\r\n ];"), "2: " NO_QUOTE },
		{ TEXT(P "jobs = [ \"a"), "2: " NO_QUOTE },
		{ TEXT(P "jobs = [ \"a\\"), "2: " NO_QUOTE },
		{ TEXT(P "jobs = [ \"a\\\""), "2: " NO_QUOTE },
		{ TEXT(P "jobs = [ \"a\\x00b\" ];"), "2: in a string, a backslash may only stand before \\ or \"" },
		{ TEXT(P "jobs = [ \"\\n\", \"\\t\" ];"), "2: in a string, a backslash may only stand before \\ or \"" },
		{ TEXT(P "jobs = [ \"a\\\nb\" ];"), "2: " NO_QUOTE },
		{ TEXT(P "a = 4294967296;"), "2: \"4294967296\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = 1234567890;"), "2: \"1234567890\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = 0xFF;"), "2: \"0xFF\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = 1.5;"), "2: \"1.5\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = .5;"), "2: \".5\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = -1234567890;"), "2: \"-1234567890\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = --1;"), "2: \"--1\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = 010;"), "2: \"010\" begins with a 0: some take it for an octal number" },
		{ TEXT(P "a = -00;"), "2: \"-00\" begins with a 0: some take it for an octal number" },
		{ TEXT(P "a = +1;"), "2: \"+1\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = 1e9;"), "2: \"1e9\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = 1E+9;"), "2: \"1E+9\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = 1L;"), "2: \"1L\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = 1$;"), "2: unexpected character \"$\"" },
		{ TEXT(P "a = 'x';"), "2: unexpected character \"'\": a string stands in double quotes" },
		{ TEXT(P "\x7f\x1b\v\f"), "2: unexpected character \"?\"" },
		{ TEXT(P "a = \xc3\xa4;"), "2: unexpected character \"\xc3\xa4\" (U+00E4)" },
		{ TEXT(P "/ comment\n"), "2: unexpected character \"/\": a string stands in double quotes" },
		{ TEXT(P "jobs = [[[[[[[[[]]]]]]]]];"), "2: nested deeper than 8 brackets" },
		{ TEXT(P "} ) ] a = [[[[[[[[[]]]]]]]]];"), "2: nested deeper than 8 brackets" },
		{ TEXT(P "a = 1e; b = -;\n\nc = 0x;"), "2: \"1e\" is not a plain number of at most nine digits\n"
		    "4: \"0x\" is not a plain number of at most nine digits" },
		{ TEXT(P "a = -;\n"), "2: \"-\" is not a plain number of at most nine digits" },
		{ TEXT(P "jobs = [ \"a\" \n;"), "3: \";\" stands before the \"]\" of jobs, whose \"[\" is in line 2" },
		{ TEXT(P "jobs = [ \"a\" ]; }\n"), "2: \"}\" closes nothing: take it out, or open its bracket" },
		{ TEXT(P "jobs = [ \"a\", ];\n"), "2: a list ends without a comma: take the one before \"]\" out" },
		{ TEXT(P "jobs = ( \"a\", /* \"b\" */ # c\n );\n"), "3: a list ends without a comma: take the one before \")\" out" },
		{ TEXT(P "jobs\n"), "2: a = is missing after jobs" },
		{ TEXT(P "jobs [ \"a\" ];\n"), "2: a = is missing after jobs" },
		{ TEXT(P "\n\ngpus = [ { vendor = \"nvidia\"; } ];\n"), "4: square brackets hold plain values alone: groups and lists stand in "
		    "gpus = ( ... )" },
		{ TEXT(P "gpus = ( { vendor = \"nvidia\"; }\n;\n"), "3: \";\" stands before the \")\" of gpus, whose \"(\" is in line 2" },
		{ TEXT(P "gpus = ( { vendor = \"nvidia\"; }\n"), "2: the \"(\" of this line, of gpus has no \")\"" },
		{ TEXT(P "gpus = ( { vendor = \"nvidia\";\n);\n"), "3: \")\" stands before the \"}\" whose \"{\" is in line 2" },
		{ TEXT(P "gpus = ( { vendor = \"nvidia\"; } { vendor = \"amd\"; } );\n"), "2: a comma is missing before \"{\"" },
		{ TEXT(P "selinux = ( type = \"x_t\" );\n"), "2: type is a setting, and stands in a list: settings stand in braces, "
		    "{ NAME = VALUE; }" },
		{ TEXT(P "identity = token;\n"), "2: token stands without quotes: a string is written \"token\"" },
		{ TEXT(P "identity = ;\n"), "2: identity has no value" },
		{ TEXT(P "[gpus]\n"), "2: \"[\" stands where a setting should begin: NAME = VALUE;" },
		{ TEXT(P "a = (((((((( x"), "2: x stands without quotes: a string is written \"x\"" },
		{ TEXT(P "jobs = [ \"a\" ];\njobs = [ \"b\" ];\n"), "3: \"jobs\" is set twice: line 2 has it, too" },
		{ TEXT(P "jobs = [ \"a\", 1 ];\n"), "2: mismatched element type in array" },
	};

	check_refused(t, COUNT(t), false);
}

/* One mistake gives one line, which names the mistake. */
static void
test_one_a_cause(void)
{
	static const struct wrong t[] = {
		{ TEXT("pipeline = \"a/b;\njobs = [ \"x\", \"y\" ];\ncallers = [ \"me\" ];\nfolders = ( { path = \"/srv/x\"; } );\n"),
		    "1: " NO_QUOTE },
		{ TEXT("pipeline = a/b\";\njobs = [ \"x\", \"y\" ];\nfolders = ( { path = \"/srv/x\"; } );\n"), "1: " NO_QUOTE },
		{ TEXT("jobs = [ \"x, \"y\" ];\npipeline = \"a/b\";\n"), "1: " NO_QUOTE },
		{ TEXT("a = 1e;\njobs = [ \"x ];\nb = 1e;\n"), "1: \"1e\" is not a plain number of at most nine digits\n2: " NO_QUOTE },
		{ TEXT("pipeline = \xe2\x80\x9c" "a/b\xe2\x80\x9d;\njobs = [ \xe2\x80\x9cx\xe2\x80\x9d, \"y\xe2\x80\x9d ];\nenv = 1;\n"),
		    "1: \"\xe2\x80\x9c\" (U+201C) is no double quote: write \"; 1 more line has such" },
		{ TEXT(P "\xc2\xa0jobs\xc2\xa0= [ \"x\" ];\n\xc2\xa0# y\n\xc2\xa0\n"),
		    "2: a no-break space (U+00A0): write a plain space; 2 more lines have such" },
		{ TEXT(P "jobs =\xe2\x80\x83[ \"x\" ];\n"), "2: a space that is no plain one (U+2003): write a plain space" },
		{ TEXT(P "jobs = \xe2\x80\x8b[ \"x\" ];\n\xef\xbb\xbf\n"),
		    "2: a character that can't be seen (U+200B): take it out; 1 more line has such" },
		{ TEXT("\xef\xbb\xbf" "a = 1e;\n"), "1: the file begins with a byte order mark (U+FEFF): save it as UTF-8 "
		    "without one\n1: \"1e\" is not a plain number of at most nine digits" },
		{ TEXT("pipeline = a/b;\nfolders = ( { path = /srv/x; } );\n"),
		    "1: unexpected character \"/\": a string stands in double quotes\n"
		    "2: unexpected character \"/\": a string stands in double quotes" },
		{ TEXT(P "env = { A = \"1\";\n B = \"2\";\n\n A = \"1\"; };\n"), "5: \"A\" is set twice: line 2 has it, too" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; path = \"/srv/y\";")), "2: \"path\" is set twice: line 2 has it, too" },
		{ TEXT("pipelin = \"a/b\";\nfolder = ( { path = \"/srv/x\"; } );\n"),
		    "1: unknown key \"pipelin\"; did you mean \"pipeline\"?\n2: unknown key \"folder\"; did you mean \"folders\"?" },
		{ TEXT("identity = \"caler\";\ncalers = [ \"me\" ];\ngpus = 1;\n"),
		    "1: identity = \"caler\" is unknown; did you mean \"caller\"?\n2: unknown key \"calers\"; did you mean \"callers\"?\n"
		    "3: gpus must be a list of groups: ( { ... }, { ... } )" },
		{ TEXT(IN_FOLDER("paht = \"/srv/x\";")), "2: unknown key \"paht\"; did you mean \"path\"?" },
		{ TEXT(IN_FOLDER("path = \"/\";")), "2: \"/\" can't be a folder or a target" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; access = \"readonly\";")), "2: access = \"readonly\" is unknown; did you mean \"ro\"?" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; access = \"Read-Write\";")),
		    "2: access = \"Read-Write\" is unknown; did you mean \"rw\"?" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"NVIDIA\"; } );\n"),
		    "2: vendor = \"NVIDIA\" is unknown; did you mean \"nvidia\"?" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendr = \"amd\"; } );\n"), "2: unknown key \"vendr\"; did you mean \"vendor\"?" },
		{ TEXT(IN_GPU("devices = \"0\";")), "2: devices must be a list of strings: [ \"0\" ]" },
		{ TEXT(IN_GPU("devices = [ 0, 1, 2 ];")), "2: devices must be a string in double quotes" },
		{ TEXT(IN_GPU("wait = -5;")), "2: wait must be a number from 0 to 86400" },
	};
	static const struct wrong settings[] = {
		{ TEXT("max_wait = -5;"), "1: max_wait must be a number from 0 to 86400" },
		{ TEXT("issuers = (\n { url = 1; audience = \"g\"; keys = \"/k\"; },\n { ulr = \"https://a\"; audience = \"g\"; keys = \"/k\"; } );"),
		    "2: url must be a string in double quotes\n3: unknown key \"ulr\"; did you mean \"url\"?" },
	};

	check_refused(t, COUNT(t), false);
	check_refused(settings, COUNT(settings), true);
}

/* Valid texts that look dangerous, and texts as other editors write them. */
static void
test_text_taken(void)
{
	static const struct wrong good[] = {
		{ TEXT(P), NULL },
		{ TEXT("pipeline = \"a/b\"; folders = ( { path = \"/srv/x\"; } )"),
		    "a file without a newline at its end" },
		{ TEXT(P "# last"), "a file that ends with a # comment" },
		{ TEXT(P "// last"), "a file that ends with a // comment" },
		{ TEXT(P "/* last */"), "a file that ends with a /* */ comment" },
		{ TEXT(P "jobs = [ \"a\" ]"), "a file that ends with a list" },
		{ TEXT(P "# @include \"x\"\n"), "@include in a # comment" },
		{ TEXT(P "/*\n@include \"x\"\n*/\n"), "@include in a /* */ comment" },
		{ TEXT(P "jobs = [ \"@include\", \"# no comment\", \"/* nor this\", \"// nor this\" ];\n"),
		    "@include and comment signs in a string" },
		{ TEXT(P "jobs = [ \"a\\\\\", \"\\\"\" ]; # \"\n"),
		    "a backslash and a quote in a string" },
		{ TEXT(P "/* /* // # */ jobs = [ \"a\" ];\n"),
		    "a /* */ comment with comment signs in it" },
		{ TEXT(P "/***/ jobs = [ \"a\" ]; /**/\n"), "short /* */ comments" },
		{ TEXT(P "# /*\njobs = [ \"a\" ];\n"), "/* in a # comment" },
		{ TEXT("# one\r\npipeline = \"a/b\";\r\nfolders = ( { path = \"/srv/x\"; } );\r\n"), "CRLF" },
		{ TEXT(P "jobs : ( \"a\" ),\n"), "the other spellings of libconfig" },
		{ TEXT("pipeline = \"a/\" \"b\";\nfolders = ( { path = \"/srv\"\n\"/x\" } )"),
		    "adjacent strings" },
		{ TEXT(P "jobs = [ \"\xc3\xa4\" ]; # \xe2\x82\xac\n"), "UTF-8" },
		{ TEXT(P "instance_vars = { a = { b = { c = { d = { e = { f = [ \"x\" ]; }; }; }; }; }; };\n"),
		    "eight nested brackets" },
		{ TEXT(P "instance_vars = { a = 0; b = 7; c = 999999999; d = TRUE; };\n"), "plain numbers" },
	};
	size_t i;

	for (i = 0; i < COUNT(good); i++) {
		autofree char *faults = NULL;
		bool is_good;

		faults = policy_faults(good[i].text, good[i].len, &is_good);
		ok(is_good, "accepted: %s", good[i].faults != NULL ? good[i].faults : "a policy");
		is_str(faults, "", "  without a fault");
	}
}

/* The line number of a fault is right after all kinds of line ends and comments. */
static void
test_lines(void)
{
	static const struct wrong t[] = {
		{ TEXT("#\r\n\r\n" P "jbos = [ \"a\" ];\r\n"), "4: unknown key \"jbos\"; did you mean \"jobs\"?" },
		{ TEXT(P "/* a\nb\n*/ // c\n# d\n\n  jbos = [ \"a\" ];\n"),
		    "7: unknown key \"jbos\"; did you mean \"jobs\"?" },
		{ TEXT("pipeline = \"a/b\";\ngpus = (\n  {\n    vendor = \"amd\";\n    device = [ \"0\" ];\n  }\n);\n"),
		    "5: unknown key \"device\"; did you mean \"devices\"?" },
		{ TEXT("pipeline = \"a/b\";\nfolders = (\n  { path = \"/srv/x\"; },\n  { paht = \"/srv/x\"; }\n);\n"), "4: unknown key \"paht\"; did you mean \"path\"?" },
		{ TEXT(P "\n\nselinux = {\n tpye = \"x\"; };\n"), "5: unknown key \"tpye\"; did you mean \"type\"?" },
		{ TEXT(P "nothing_like_it = 1;"), "2: unknown key \"nothing_like_it\"" },
		{ TEXT(P "Jobs = [ \"a\" ];"), "2: unknown key \"Jobs\"; did you mean \"jobs\"?" },
	};

	check_refused(t, COUNT(t), false);
}

static void
test_all_faults(void)
{
	static const struct wrong t[] = {
		{ TEXT("pipeline = \"train\";\njobs = [ ];\nidentity = \"tokens\";\ngpus = (\n { count = 0; wait = "
		    "90000; },\n"
		    " { vendor = \"amd\"; share_limit = 2; } );\nfolders = (\n { path = \"srv\"; },\n { access = \"w\";"
		    " } );\n"
		    "unknown = 1;\n"), "1: pipeline must be \"TEAM/PIPELINE\"; \"train\" is not\n"
		    "2: jobs is empty: leave it out for every job\n"
		    "3: identity = \"tokens\" is unknown; did you mean \"token\"?\n"
		    "5: count must be a number from 1 to 64\n"
		    "5: wait must be a number from 0 to 86400\n"
		    "5: a gpus entry needs a vendor: nvidia, amd, intel, or a CDI kind (\"nvidia.com/gpu\")\n"
		    "6: share_limit goes with sharing = \"shared\"\n"
		    "8: path \"srv\" is not absolute\n"
		    "9: access = \"w\" is unknown; did you mean \"rw\"?\n"
		    "9: a folders entry needs a path\n"
		    "10: unknown key \"unknown\"" },
	};
	autofaults struct faults f = { 0 };
	autopolicy struct policy p;
	struct why why;

	check_refused(t, COUNT(t), false);
	policy_parse("20-y.conf", t[0].text, t[0].len, &p, &f);
	is_int(faults_refuse(&f, "20-y.conf", &why), -1, "faults_refuse() refuses");
	is_str(why.text, "20-y.conf:1: pipeline must be \"TEAM/PIPELINE\"; \"train\" is not",
	    "the reason is the first fault");
	is_int(why.code, WHY_CONFIG, "the code is that of a configuration fault");
	faults_free(&f);
	fault_add(&f, 3, true, "a warning");
	faults_refuse(&f, "x", &why);
	is_str(why.text, "out of memory", "a warning is no reason to refuse");
	fault_add(&f, 0, false, "no\nline");
	faults_refuse(&f, "x", &why);
	is_str(why.text, "x: no?line",
	    "the reason for a fault of the whole file has no line number, and is printable");
}

/* The number of faults for one file is limited, so that garbage is not read to its end. */
static void
test_many_faults(void)
{
	autofaults struct faults f = { 0 };
	autobuf struct buf b = { 0 };
	char *faults, *p;
	unsigned lines = 1;
	bool good;
	int i;

	for (i = 0; i < 30; i++)
		buf_puts(&b, "$\n");
	faults = policy_faults(b.p, b.len, &good);
	for (p = faults; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	is_int(lines, 20, "twenty of thirty bad lines are reported");
	free(faults);
	buf_free(&b);
	for (i = 0; i < 10001; i++)
		fault_add(&f, 1, false, "x");
	ok(f.n == 10000 && f.errors == 10001, "ten thousand faults are kept, and all are counted");
	buf_puts(&b, "pipeline = \"a/b\"; folders = ( { path = \"/srv/0\"; }");
	for (i = 1; i < 4096; i++)
		buf_printf(&b, ", { path = \"/srv/%d\"; }", i);
	buf_puts(&b, ");");
	faults = policy_faults(b.p, b.len, &good);
	ok(good, "4096 folders in a list are accepted: %s", faults);
	free(faults);
	b.len -= 2;
	buf_puts(&b, ", { path = \"/srv/x\"; } );");
	faults = policy_faults(b.p, b.len, &good);
	is_str(faults, "1: folders has 4097 entries: at most 4096 are read",
	    "one folder more is refused");
	ok(!good, "  even though the rest of the file is valid");
	free(faults);
}

/* The number of GPUs is limited. */
static void
test_many_gpus(void)
{
	autobuf struct buf b = { 0 };
	char *faults;
	bool good;
	int i;

	buf_puts(&b, "pipeline = \"a/b\"; gpus = ( { vendor = \"amd\"; }");
	for (i = 1; i < 64; i++)
		buf_puts(&b, ", { vendor = \"amd\"; }");
	buf_puts(&b, ");");
	faults = policy_faults(b.p, b.len, &good);
	ok(good, "64 rules for GPUs are accepted: %s", faults);
	free(faults);
	b.len -= 2;
	buf_puts(&b, ", { vendor = \"amd\"; } );");
	faults = policy_faults(b.p, b.len, &good);
	is_str(faults, "1: gpus has 65 entries: at most 64 are read", "one rule more is refused");
	free(faults);
}

static void
test_sizes(void)
{
	autobuf struct buf b = { 0 };
	char *faults;
	bool good;
	int i;

	buf_puts(&b, P "#");
	while (b.len < CONF_MAX)
		buf_puts(&b, "x");
	faults = policy_faults(b.p, b.len, &good);
	ok(good, "a file of the greatest size is accepted: %s", faults);
	free(faults);
	buf_puts(&b, "x");
	faults = policy_faults(b.p, b.len, &good);
	ok(!good && strcmp(faults, "0: has 262145 bytes: at most 262144 are read") == 0,
	    "a file that is one byte larger is refused");
	free(faults);
	buf_free(&b);
	buf_puts(&b, P "instance_vars = {\n");
	for (i = 0; i < 2048; i++)
		buf_printf(&b, "v%d=%d\n", i, i);
	buf_puts(&b, "}; ");
	faults = policy_faults(b.p, b.len, &good);
	ok(good, "2048 settings in a group are accepted: %.60s", faults);
	free(faults);
	b.len -= 3;
	buf_puts(&b, "x = 1; };");
	faults = policy_faults(b.p, b.len, &good);
	ok(!good && strcmp(faults, "2051: more than 2048 settings in one group") == 0,
	    "2049 settings in a group are refused: %.60s",
	    faults);
	free(faults);
	buf_free(&b);
	buf_puts(&b, "pipeline = \"a/b\"; folders = (\n");
	for (i = 0; i < 4095; i++)
		buf_printf(&b, "%s{path=\"/x/%04d\";access=\"ro\";submounts=false;relabel=\"no\"}", i ? ",\n" : "", i);
	buf_puts(&b, ");\n");
	faults = policy_faults(b.p, b.len, &good);
	ok(good, "many settings in many groups are accepted: %.60s", faults);
	free(faults);
	b.len -= 3;
	buf_puts(&b, ",{path=\"/y\";access=\"ro\";submounts=false;}, { access = \"ro\"; } );");
	faults = policy_faults(b.p, b.len, &good);
	ok(!good && strncmp(faults, "4096: more than 16384 settings in one file", 42) == 0,
	    "too many settings in one file are refused: %.60s",
	    faults);
	free(faults);
}

static void
check_time(const char *begin, const char *piece, const char *end, const char *what)
{
	autobuf struct buf b = { 0 };
	char *faults;
	clock_t start;
	bool good;

	buf_puts(&b, begin);
	while (b.len + strlen(piece) + strlen(end) <= CONF_MAX)
		buf_puts(&b, piece);
	buf_puts(&b, end);
	start = clock();
	faults = policy_faults(b.p, b.len, &good);
	if (emulated())
		skip(what, "times under an emulator mean nothing");
	else
		ok(clock() - start < CLOCKS_PER_SEC / 5,
		    "%s: judged within 200 ms (%.50s)", what, faults);
	free(faults);
}

static void
test_time(void)
{
#if defined(__SANITIZE_ADDRESS__)
	skip("how long files of 256 KiB take", "a sanitizer takes longer");
	return;
#endif
	check_time("", "a=1 ", "", "settings without end");
	check_time("", "a={", "", "groups in groups");
	check_time(P "jobs=(", "\"\",", "", "a list without end");
	check_time(P "jobs=[", "\"a\",", "\"a\"];", "a long list of strings");
	check_time(P "jobs=(", "\"\",", "\"\");", "a long list of empty strings");
	check_time(P "jobs=[1", ",1", "];", "a long list of numbers");
	check_time("pipeline = \"a/b\";gpus=({devices=[", "\"0\",", "\"0\"];});", "a long list of devices");
	check_time(P "gpus=(", "{},", "{});", "a long list of groups");
	check_time(P "instance_vars={a=(", "{},", "{});};",
	    "a long list of groups in instance_vars");
	check_time(P, "/**/", "", "comments");
	check_time(P "jobs=[", "\"a\" ", "];", "adjacent strings");
	check_time(P, "[", "", "brackets");
	check_time(P, "$", "", "garbage");
	check_time(P "instance_vars={", "aaaaaaaaaaaaaaaaaaaaaaaaaaa:1,", "};",
	    "the same name again and again");
}

static void
test_policy_types(void)
{
	static const struct wrong t[] = {
		{ TEXT(P "jobs = \"fit\";"), "2: jobs must be a list of strings: [ \"fit\" ]" },
		{ TEXT(P "jobs = [ 1, 2 ];"), "2: jobs must be a string in double quotes" },
		{ TEXT(P "jobs = [ \"a\", \"\" ];"), "2: jobs is empty" },
		{ TEXT(P "jobs = { };"), "2: jobs must be a list of strings: [ \"...\" ]" },
		{ TEXT("folders = ( { path = \"/srv/x\"; } );\npipeline = 1;"), "2: pipeline must be a string in double quotes" },
		{ TEXT("folders = ( { path = \"/srv/x\"; } );\npipeline = \"/b\";"), "2: pipeline must be \"TEAM/PIPELINE\"; \"/b\" is not" },
		{ TEXT("folders = ( { path = \"/srv/x\"; } );\npipeline = \"a/\";"), "2: pipeline must be \"TEAM/PIPELINE\"; \"a/\" is not" },
		{ TEXT(P "instance_vars = [ 1 ];"), "2: instance_vars must be a group: { name = value; ... }" },
		{ TEXT(P "instance_vars = \"main\";"), "2: instance_vars must be a group: { name = value; ... }" },
		{ TEXT(P "identity = true;"), "2: identity must be one of \"token\", \"caller\", \"claim\"" },
		{ TEXT(P "identity = \"cLAIM!\";"), "2: identity = \"cLAIM!\" is unknown; did you mean \"claim\"?" },
		{ TEXT(P "issuer = [ \"https://ci\" ];"), "2: issuer must be a string in double quotes" },
		{ TEXT(P "callers = \"me\";"), "2: callers must be a list of strings: [ \"me\" ]" },
		{ TEXT(P "callers = [ \"me\", \"7\", \"8\" ];"), "2: callers are names of users, \"7\" is a number\n"
		    "2: callers are names of users, \"8\" is a number" },
		{ TEXT(P "callers = [ \"0\" ];"), "2: callers are names of users, \"0\" is a number" },
		{ TEXT(P "callers = [ \"4294967295\", \"me\" ];"),
		    "2: callers are names of users, \"4294967295\" is a number" },
		{ TEXT(P "gpus = [ ];"), "2: gpus must be a list of groups: ( { ... }, { ... } )" },
		{ TEXT(P "gpus = { vendor = \"amd\"; };"), "2: gpus must be a list of groups: ( { ... }, { ... } )" },
		{ TEXT(P "gpus = ( \"amd\" );"), "2: expected a group: { key = value; ... }" },
		{ TEXT("pipeline = \"a/b\";\nfolders = \"/srv\";"), "2: folders must be a list of groups: ( { ... }, { ... } )" },
		{ TEXT("pipeline = \"a/b\";\nfolders = ( \"/srv\" );"), "2: expected a group: { key = value; ... }" },
		{ TEXT(P "selinux = \"x\";"), "2: expected a group: { key = value; ... }" },
		{ TEXT(P "selinux = { type = 1; level = [ ]; };"), "2: type must be a string in double quotes\n"
		    "2: level must be a string in double quotes" },
		{ TEXT(P "selinux = { type = \"a:b\"; level = \"s0:c0.c5\"; };"),
		    "2: type must be a type of SELinux's, as nvidia_container_t is; \"a:b\" is not\n"
		    "2: level must be \"auto\" or one level, as \"s0:c12,c345\"; \"s0:c0.c5\" is not" },
		{ TEXT(P "selinux = { level = \"SystemHigh\"; };"),
		    "2: level must be \"auto\" or one level, as \"s0:c12,c345\"; \"SystemHigh\" is not" },
		{ TEXT(P "env = [ \"A=1\" ];"), "2: env must be a group: { NAME = \"value\"; ... }" },
		{ TEXT(P "env = { A = 1; };"), "2: A must be a string in double quotes" },
		{ TEXT(P "env = { A-B = \"1\"; };"), "2: \"A-B\" can't be set" },
		{ TEXT(P "env = { GPUHELPER_GPUS = \"1\"; };"), "2: \"GPUHELPER_GPUS\" can't be set" },
		{ TEXT(P "env = { * = \"1\"; };"), "2: \"*\" can't be set" },
		{ TEXT(P "env = { NVIDIA_VISIBLE_DEVICES = \"all\"; };"), "2: \"NVIDIA_VISIBLE_DEVICES\" can't be set: with driver_files = "
		    "\"vendor-runtime\" in gpuhelper.conf it tells what was granted" },
		{ TEXT(P "env = { AMD_VISIBLE_DEVICES = \"0\"; };"), "2: \"AMD_VISIBLE_DEVICES\" can't be set: with driver_files = "
		    "\"vendor-runtime\" in gpuhelper.conf it tells what was granted" },
	};

	check_refused(t, COUNT(t), false);
}

#define NO_GPU " is no GPU: give a UUID, a PCI address, a rank (\"0\") or \"all\""

static void
test_gpu_types(void)
{
	static const struct wrong t[] = {
		{ TEXT(IN_GPU("count = \"1\";")), "2: count must be a number from 1 to 64" },
		{ TEXT(IN_GPU("count = 0;")), "2: count must be a number from 1 to 64" },
		{ TEXT(IN_GPU("count = 65;")), "2: count must be a number from 1 to 64" },
		{ TEXT(IN_GPU("count = true;")), "2: count must be a number from 1 to 64" },
		{ TEXT(IN_GPU("sharing = true;")), "2: sharing must be one of \"exclusive\", \"shared\"" },
		{ TEXT(IN_GPU("sharing = \"share\";")), "2: sharing = \"share\" is unknown; did you mean \"shared\"?" },
		{ TEXT(IN_GPU("sharing = \"shared\"; share_limit = 0;")),
		    "2: share_limit must be a number from 1 to 1024" },
		{ TEXT(IN_GPU("sharing = \"shared\"; share_limit = 1025;")),
		    "2: share_limit must be a number from 1 to 1024" },
		{ TEXT(IN_GPU("sharing = \"shared\"; share_limit = [ ];")),
		    "2: share_limit must be a number from 1 to 1024" },
		{ TEXT(IN_GPU("share_limit = 4;")), "2: share_limit goes with sharing = \"shared\"" },
		{ TEXT(P "max_gpus = 0;"), "2: max_gpus must be a number from 1 to 4096" },
		{ TEXT(P "max_waiting = 4097;"), "2: max_waiting must be a number from 1 to 4096" },
		{ TEXT(P "priority = 10;"), "2: priority must be a number from 0 to 9" },
		{ TEXT(P "priority = \"high\";"), "2: priority must be a number from 0 to 9" },
		{ TEXT(P "max_gpus = 2;"), "0: max_gpus goes with gpus" },
		{ TEXT(P "max_gpus = 2;\ngpus = ( { vendor = \"nvidia\"; count = 3; } );"), "3: count = 3 is more than max_gpus = 2" },
		{ TEXT(IN_GPU("wait = 86401;")), "2: wait must be a number from 0 to 86400" },
		{ TEXT(IN_GPU("wait = \"1m\";")), "2: wait must be a number from 0 to 86400" },
		{ TEXT(IN_GPU("capabilities = \"compute\";")), "2: capabilities must be a list of strings: [ \"compute\" ]" },
		{ TEXT(IN_GPU("capabilities = [ \"compute\", \"Utility\" ];")),
		    "2: unknown capability \"Utility\": compute, utility, "
		    "graphics, video, display, ngx, compat32 or all" },
		{ TEXT(IN_GPU("capabilities = [ 1 ];")), "2: capabilities must be a string in double quotes" },
		{ TEXT(IN_GPU("devices = \"all\";")), "2: devices must be a list of strings: [ \"all\" ]" },
		{ TEXT(IN_GPU("devices = [ ];")), "2: devices is empty: leave it out for every GPU" },
		{ TEXT(IN_GPU("devices = [ 0 ];")), "2: devices must be a string in double quotes" },
		{ TEXT(IN_GPU("devices = [ \"*\" ];")), "2: \"*\"" NO_GPU },
		{ TEXT(IN_GPU("devices = [ \"4096\", \"00\", \"-1\" ];")), "2: \"4096\"" NO_GPU "\n2: \"00\"" NO_GPU
		    "\n2: \"-1\"" NO_GPU },
		{ TEXT(IN_GPU("devices = [ \"0000:3b:00.8\" ];")), "2: \"0000:3b:00.8\"" NO_GPU },
		{ TEXT(IN_GPU("devices = [ \"GPU-11111111-2222-3333-4444-55555555555\" ];")),
		    "2: \"GPU-11111111-2222-3333-4444-55555555555\"" NO_GPU },
		{ TEXT(IN_GPU("devices = [ \"GPU-g1111111-2222-3333-4444-555555555555\" ];")),
		    "2: \"GPU-g1111111-2222-3333-4444-555555555555\"" NO_GPU },
		{ TEXT(IN_GPU("devices = [ \"0x\", \"0xg\", \"0x11112222333344445\" ];")), "2: \"0x\"" NO_GPU
		    "\n2: \"0xg\"" NO_GPU
		    "\n2: \"0x11112222333344445\"" NO_GPU },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"AMD\"; } );"), "2: vendor = \"AMD\" is unknown; did you mean \"amd\"?" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = 1; } );"), "2: vendor must be one of \"nvidia\", \"amd\", \"intel\"" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"nvidia.com/\"; } );"),
		    "2: vendor \"nvidia.com/\" is no kind of CDI devices: \"vendor.com/class\"" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"nvidia.com/gpu=0\"; } );"),
		    "2: vendor \"nvidia.com/gpu=0\" is no kind of CDI devices: \"vendor.com/class\"" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"nvidia.com/gpu\"; devices = [ \"nvidia.com/gpu=0\" ]; } );"),
		    "2: \"nvidia.com/gpu=0\" is no name of a CDI device: give what comes after the \"=\" (gpuhelperctl cdi list), or "
		    "\"all\"" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"amd\"; mps = true; } );"),
		    "2: mps goes with vendor = \"nvidia\"" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"nvidia\";\n nodes = [ \"gdrdrv\" ]; } );"),
		    "3: nodes goes with a CDI kind as the vendor (\"nvidia.com/gpu\"): a CDI spec lists these nodes" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"nvidia.com/gpu\"; nodes = [ \"vfio\", \"imex\" ]; } );"),
		    "2: unknown nodes \"vfio\": gdrdrv, nvidia-fs, imex, imex=CHANNEL, infiniband or nvswitch" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"nvidia.com/gpu\"; nodes = [ \"imex=1048576\" ]; } );"),
		    "2: unknown nodes \"imex=1048576\": gdrdrv, nvidia-fs, imex, imex=CHANNEL, infiniband or nvswitch" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"nvidia.com/gpu\"; nodes = [ \"imex=3\", \"imex=4\" ]; } );"),
		    "2: nodes has two IMEX channels, 3 and 4: a container gets one" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ vendor = \"nvidia.com/gpu\"; nodes = [ ]; } );"),
		    "2: nodes is empty: leave it out for none" },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ devices = [ \"MIG-0d5b2d8e\" ]; vendor = \"nvidia\"; } );"),
		    "2: \"MIG-0d5b2d8e\"" NO_GPU },
		{ TEXT("pipeline = \"a/b\"; gpus = (\n{ } );"),
		    "2: a gpus entry needs a vendor: nvidia, amd, intel, or a CDI "
		    "kind (\"nvidia.com/gpu\")" },
	};

	check_refused(t, COUNT(t), false);
}

#define NEVER(dir) "2: nothing at or beneath " dir " can be a folder or a target"
#define OURS(dir) "2: " dir " and what is above and beneath it can't be given out"

static void
test_folder_types(void)
{
	static const struct wrong t[] = {
		{ TEXT(IN_FOLDER("access = \"ro\";")), "2: a folders entry needs a path" },
		{ TEXT(IN_FOLDER("path = 1;")), "2: path must be a string in double quotes" },
		{ TEXT(IN_FOLDER("path = \"\";")), "2: path is empty" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; access = 1;")), "2: access must be one of \"ro\", \"rw\"" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; access = \"rx\";")),
		    "2: access = \"rx\" is unknown; did you mean \"ro\"?" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; subfolders = 1;")), "2: subfolders must be true or false" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; submounts = \"true\";")), "2: submounts must be true or false" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; relabel = true;")), "2: relabel must be one of \"no\", \"shared\", \"private\"" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; relabel = \"share\";")),
		    "2: relabel = \"share\" is unknown; did you mean \"shared\"?" },
		{ TEXT(IN_FOLDER("path = \"/etc/ssl\"; relabel = \"shared\";")),
		    "2: relabel is not allowed at or beneath /etc, which is the system's" },
		{ TEXT(IN_FOLDER("path = \"/us?\"; relabel = \"shared\";")),
		    "2: relabel is not allowed at or beneath /usr, which is the system's" },
		{ TEXT(IN_FOLDER("path = \"/srv\"; relabel = \"private\";")),
		    "2: relabel is not for /srv itself: name a folder in it" },
		{ TEXT(IN_FOLDER("path = \"/var/ca*\"; relabel = \"private\";")),
		    "2: relabel is not for /var/cache itself: name a folder in it" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; target = [ ];")), "2: target must be a string in double quotes" },
		{ TEXT(IN_FOLDER("path = \"srv\";")), "2: path \"srv\" is not absolute" },
		{ TEXT(IN_FOLDER("path = \"/srv/../etc\";")), "2: path \"/srv/../etc\" has a \".\" or \"..\" in it" },
		{ TEXT(IN_FOLDER("path = \"/srv//x\";")),
		    "2: path \"/srv//x\" has an empty component or ends with \"/\"" },
		{ TEXT(IN_FOLDER("path = \"/srv/x/\";")),
		    "2: path \"/srv/x/\" has an empty component or ends with \"/\"" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; target = \"x\";")), "2: path \"x\" is not absolute" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; target = \"/a/./b\";")),
		    "2: path \"/a/./b\" has a \".\" or \"..\" in it" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; target = \"/\";")), "2: \"/\" can't be a folder or a target" },
		{ TEXT(IN_FOLDER("path = \"/proc\";")), NEVER("/proc") },
		{ TEXT(IN_FOLDER("path = \"/proc/driver/nvidia\";")), NEVER("/proc") },
		{ TEXT(IN_FOLDER("path = \"/sys\";")), NEVER("/sys") },
		{ TEXT(IN_FOLDER("path = \"/dev/dri\";")), NEVER("/dev") },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; target = \"/dev/shm\";")), NEVER("/dev") },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; target = \"/proc/sys\";")), NEVER("/proc") },
		{ TEXT(IN_FOLDER("path = \"/sys/fs\"; target = \"/x\";")), NEVER("/sys") },
		{ TEXT(IN_FOLDER("path = \"/etc\";")), OURS("/etc/gpuhelper") },
		{ TEXT(IN_FOLDER("path = \"/etc/gpuhelper/keys\"; target = \"/x\";")), OURS("/etc/gpuhelper") },
		{ TEXT(IN_FOLDER("path = \"/run\";")), OURS("/run/gpuhelper") },
		{ TEXT(IN_FOLDER("path = \"/run/gpuhelper\";")), OURS("/run/gpuhelper") },
		{ TEXT(IN_FOLDER("path = \"/\";")), "2: \"/\" can't be a folder or a target" },
		{ TEXT(IN_FOLDER("path = \"/srv/*/x\";")), "2: * and ? are for the last component of a path" },
		{ TEXT(IN_FOLDER("path = \"/sr?/x*\";")), "2: * and ? are for the last component of a path" },
		{ TEXT(IN_FOLDER("path = \"/srv/x\"; target = \"/y*\";")), "2: target is one path, without * and ?" },
		{ TEXT(IN_FOLDER("path = \"/srv/x*\"; subfolders = true;")),
		    "2: a path with * or ? can't also say subfolders" },
		/* a pattern is refused for each path that it matches on every host */
		{ TEXT(IN_FOLDER("path = \"/p*\"; target = \"/x\";")), NEVER("/proc") },
		{ TEXT(IN_FOLDER("path = \"/???\"; target = \"/x\";")), NEVER("/sys") "\n" NEVER("/dev") "\n"
		    OURS("/etc/gpuhelper")
		    "\n" OURS("/run/gpuhelper") },
		{ TEXT(IN_FOLDER("path = \"/e*\";")), OURS("/etc/gpuhelper") },
		{ TEXT(IN_FOLDER("path = \"/etc/gpu*\";")), OURS("/etc/gpuhelper") },
		{ TEXT(IN_FOLDER("path = \"/run/*\";")), OURS("/run/gpuhelper") },
		{ TEXT(IN_FOLDER("path = \"/run/gpuhelper/*\";")), OURS("/run/gpuhelper") },
		{ TEXT(IN_FOLDER("path = \"/dev/*\";")), NEVER("/dev") },
	};
	static const char *const good[] = { IN_FOLDER("path = \"/srvx\";"), IN_FOLDER("path = \"/process\";"),
		IN_FOLDER("path = \"/srv/*\"; access = \"rw\";"), IN_FOLDER("path = \"/etc/gpuhelper2\";"),
		IN_FOLDER("path = \"/etc/g?\";"), IN_FOLDER("path = \"/s?v\";"),
		    IN_FOLDER("path = \"/devel\"; target = \"/etc\";"),
		IN_FOLDER("path = \"/run/x*\";"), IN_FOLDER("path = \"/srv/proc\"; target = \"/srv/dev\";") };
	size_t i;

	check_refused(t, COUNT(t), false);
	for (i = 0; i < COUNT(good); i++) {
		autofree char *faults = NULL;
		bool is_good;

		faults = policy_faults(good[i], strlen(good[i]), &is_good);
		ok(is_good, "accepted: %.90s: %s", good[i], faults);
	}
}

/* Claims of a policy. The same reader reads «require» of an issuer. */
static void
test_claims(void)
{
#define CI "pipeline = \"a/b\"; issuer = \"https://ci\"; folders = ( { path = \"/srv/x\"; access = \"ro\"; } );\n"
#define NO_SUB "\"sub\" is not compared: its form differs between CIs, and a pipeline's author may choose it. Name the claims " \
	"that it is made of"
#define VALUES "must be a string in double quotes, a whole number, true or false"
	static const struct wrong t[] = {
		{ TEXT(CI "claims = 1;"), "2: claims must be a group: { claim = value; ... }, or a list of groups: "
		    "( { claim = \"NAME\"; value = ...; }, ... )" },
		{ TEXT(CI "claims = { };"), "2: claims is empty: leave it out" },
		{ TEXT(CI "claims = ( );"), "2: claims is empty: leave it out" },
		{ TEXT(CI "claims = { ref = 1.5; };"), "2: \"1.5\" is not a plain number of at most nine digits" },
		{ TEXT(CI "claims = { ref = { a = 1; }; };"), "2: the value of claim \"ref\" " VALUES ", or a list of these" },
		{ TEXT(CI "claims = { ref = ( [ \"a\" ] ); };"), "2: the value of claim \"ref\" " VALUES ", or a list of these" },
		{ TEXT(CI "claims = { ref = \"\"; };"), "2: the value of claim \"ref\" is empty" },
		{ TEXT(CI "claims = { ref = [ ]; };"), "2: claim \"ref\" has an empty list: no value would do" },
		{ TEXT(CI "claims = { sub = \"x\"; };"), "2: " NO_SUB },
		{ TEXT(CI "claims = ( { claim = \"sub\"; value = \"x\"; } );"), "2: " NO_SUB },
		{ TEXT(CI "claims = { iss = \"x\"; };"), "2: \"iss\" is checked in every token already: leave it out" },
		{ TEXT(CI "claims = ( { claim = \"a\"; value = 1; },\n{ claim = \"a\"; value = 2; } );"),
		    "3: claim \"a\" appears twice: give a list for alternatives" },
		{ TEXT(CI "claims = ( { claim = \"a\"; } );"), "2: an entry needs claim and one of value and absent" },
		{ TEXT(CI "claims = ( { claim = \"a\"; value = 1; absent = true; } );"),
		    "2: an entry needs claim and one of value and absent" },
		{ TEXT(CI "claims = ( { claim = \"a\"; absent = false; } );"), "2: absent = false says nothing: give a value" },
		{ TEXT(CI "claims = ( { claim = \"a\"; value = 1; }, { claim = \"a\"; absent = true; } );"),
		    "2: claim \"a\" appears twice: give a list for alternatives" },
		{ TEXT(CI "claims = ( { claim = \"\"; value = 1; } );"), "2: claim is empty" },
		{ TEXT(CI "claims = ( { claim = \"a\"; value = 1; valeu = 2; } );"),
		    "2: unknown key \"valeu\"; did you mean \"value\"?" },
		{ TEXT(P "claims = { ref = \"x\"; };"),
		    "0: claims goes with identity = \"token\" and the issuer that makes them: issuer = \"URL\"" },
		{ TEXT(CI "identity = \"claim\"; claims = { ref = \"x\"; };"),
		    "0: issuer goes with identity = \"token\"\n"
		    "0: claims goes with identity = \"token\" and the issuer that makes them: issuer = \"URL\"" },
	};
	static const struct wrong require[] = {
		{ TEXT("issuers = ( {\nrequire = { a = [ \"x\" ]; }; } );"), "2: the value of claim \"a\" " VALUES "\n"
		    "1: an issuers entry needs url, audience and keys" },
		{ TEXT("issuers = ( {\nrequire = { a = \"x*\"; }; } );"), "2: claim \"a\" is compared exactly here: no * and ?\n"
		    "1: an issuers entry needs url, audience and keys" },
	};
	autofaults struct faults f = { 0 };
	autopolicy struct policy p;

	check_refused(t, COUNT(t), false);
	check_refused(require, COUNT(require), true);
	ok(policy_parse("x", TEXT(CI "claims = { ref = [ \"a\", \"b/*\" ]; ok = true; n = ( 7, \"7\" ); };"), &p, &f),
	    "claims are read");
	ok(p.claims.name.n == 5 && strcmp(p.claims.name.v[1], "ref") == 0 && strcmp(p.claims.value.v[1], "\"b/*") == 0 &&
	    strcmp(p.claims.value.v[2], "true") == 0 && strcmp(p.claims.value.v[3], "7") == 0 &&
	    strcmp(p.claims.value.v[4], "\"7") == 0, "each value keeps its type");
}

/* At most CLAIMS_MAX values. */
static void
test_many_claims(void)
{
	unsigned n;

	for (n = CLAIMS_MAX; n <= CLAIMS_MAX + 1; n++) {
		autobuf struct buf b = { 0 };
		autofree char *faults = NULL;
		unsigned i;
		bool good;

		buf_puts(&b, CI "claims = { a = [ 0");
		for (i = 1; i < n; i++)
			buf_printf(&b, ", %u", i);
		buf_puts(&b, " ]; };");
		faults = policy_faults(b.p, b.len, &good);
		ok(good == (n == CLAIMS_MAX), "%u values: %s", n, faults);
	}
}

static void
test_whole_policy(void)
{
	static const struct wrong t[] = {
		{ TEXT(""), "0: no pipeline: say pipeline = \"TEAM/PIPELINE\", or identity = \"caller\"\n"
		    "0: warning: this policy gives nothing: neither gpus nor folders" },
		{ TEXT(" \n# nothing\n"), "0: no pipeline: say pipeline = \"TEAM/PIPELINE\", or identity = \"caller\"\n"
		    "0: warning: this policy gives nothing: neither gpus nor folders" },
		{ TEXT(C "pipeline = \"a/b\";"), "0: identity = \"caller\" knows no pipeline: leave pipeline, jobs and "
		    "instance_vars "
		    "out, or ask for a token" },
		{ TEXT(C "jobs = [ \"a\" ];"), "0: identity = \"caller\" knows no pipeline: leave pipeline, jobs and "
		    "instance_vars "
		    "out, or ask for a token" },
		{ TEXT(C "instance_vars = { };"), "0: identity = \"caller\" knows no pipeline: leave pipeline, jobs "
		    "and "
		    "instance_vars out, or ask for a token" },
		{ TEXT(P "issuer = \"https://ci\"; identity = \"claim\";"),
		    "0: issuer goes with identity = \"token\"" },
		{ TEXT(C "issuer = \"https://ci\";"), "0: issuer goes with identity = \"token\"" },
		{ TEXT("identity = \"claim\"; folders = ( { path = \"/srv/x\"; } );"),
		    "0: no pipeline: say pipeline = \"TEAM/PIPELINE\", or identity = \"caller\"" },
	};
	autofree char *warned = NULL, *nothing = NULL, *queue = NULL;
	bool good;

	check_refused(t, COUNT(t), false);
	warned = policy_faults(TEXT("identity = \"caller\"; folders = ( { path = \"/srv/x\"; } );"), &good);
	ok(good, "a policy for every caller is accepted");
	is_str(warned, "0: warning: identity = \"caller\" without callers covers every container of every member of "
	    "group "
	    "gpuhelper, and of root", "  with a warning");
	nothing = policy_faults(TEXT("pipeline = \"a/b\";"), &good);
	ok(good, "a policy that gives nothing is accepted");
	queue = policy_faults(TEXT("pipeline = \"a/b\"; gpus = ( { vendor = \"nvidia\"; } ); priority = 9; max_waiting = 1;"), &good);
	ok(good, "a policy with a priority and without a wait is accepted");
	is_str(queue, "0: warning: max_waiting is about containers that wait, and no gpus entry here says wait\n"
	    "0: warning: priority is about containers that wait, and no gpus entry here says wait", "  with a warning for each key");
	is_str(nothing, "0: warning: this policy gives nothing: neither gpus nor folders",
	    "  with a warning");
}

static void
test_policy_read(void)
{
	static const char text[] =
	    "pipeline = \"ml-*/tr/ain\"; jobs = [ \"fit\", \"eval-*\" ];\n"
	    "instance_vars = { branch = \"main\"; n = 7; yes = true; list = [ 1, 2 ]; mixed = ( \"a\", { b = false; } "
	    "); };\n"
	    "identity = \"claim\"; callers = ( \"concourse\", \"root\" );\n"
	    "gpus = ( { vendor = \"nvidia\"; devices = [ \"GPU-11111111-2222-3333-4444-555555555555\", \"3b:00.0\", "
	    "\"4095\" ];\n"
	    " count = 64; sharing = \"shared\"; share_limit = 1024; wait = 86400; capabilities = [ \"video\", \"ngx\" "
	    "]; },\n"
	    " { vendor = \"intel\"; devices = ( \"all\" ); },\n"
	    " { vendor = \"a.b/c\"; nodes = [ \"imex\", \"gdrdrv\" ]; }, { vendor = \"a.b/d\"; nodes = [ \"imex\", \"imex=9\" ]; }, { vendor = \"amd\"; sharing = \"exclusive\"; devices = [ \"0xA\", \"0x1111222233334444\" ]; wait = 0; "
	    "} );\n"
	    "folders = ( { path = \"/srv/in\"; access = \"ro\"; subfolders = true; },\n"
	    " { path = \"/srv/o?t*\"; access = \"rw\"; target = \"/out\"; submounts = true;\n"
	    " relabel = \"private\"; } );\n"
	    "selinux = { type = \"nvidia_container_t\"; level = \"auto\"; }; env = { A = \"1=2\"; b_9 = \" \"; };\n";
	autofaults struct faults f = { 0 };
	autopolicy struct policy p;
	autofree char *faults = NULL;

	policy_parse("10-ml.conf", TEXT(text), &p, &f);
	if (!is_str(faults = listed(&f), "", "a policy with every key is read"))
		return;
	is_str(p.name, "10-ml.conf", "the policy has its file's name");
	is_str(p.team, "ml-*", "the team is the part before the first slash");
	is_str(p.pipeline, "tr/ain", "the pipeline is the rest, with its slash");
	ok(p.has_jobs && p.jobs.n == 2 && strcmp(p.jobs.v[1], "eval-*") == 0, "jobs are read");
	ok(p.instance_vars.there && p.instance_vars.name.n == 5, "instance_vars are read");
	is_str(instance_var(&p.instance_vars, "branch"), "\"main\"", "  a string");
	is_str(instance_var(&p.instance_vars, "list"), "[1,2]", "  a list of numbers");
	is_str(instance_var(&p.instance_vars, "mixed"), "[\"a\",{\"b\":false}]",
	    "  a list of mixed values");
	is_str(instance_var(&p.instance_vars, "n"), "7", "  a number");
	is_str(instance_var(&p.instance_vars, "yes"), "true", "  a boolean");
	is_str(identity_name(p.identity), "claim", "the identity is read");
	ok(p.has_callers && p.callers.n == 2 && strcmp(p.callers.v[0], "concourse") == 0,
	    "callers are read");
	if (is_int(p.gpus, 5, "five GPU rules are read")) {
		ok(p.gpu[0].vendor == GPU_NVIDIA && p.gpu[0].devices.n == 3 && p.gpu[0].count == 64 &&
		    p.gpu[0].sharing == SHARING_SHARED && p.gpu[0].share_limit == 1024 && p.gpu[0].wait == 86400 &&
		    p.gpu[0].capabilities == (GPU_CAP_VIDEO | GPU_CAP_NGX) && p.gpu[0].line == 4,
		    "a GPU rule with every key is read");
		ok(p.gpu[1].vendor == GPU_INTEL && p.gpu[1].count == 1 && p.gpu[1].sharing == SHARING_EXCLUSIVE &&
		    p.gpu[1].share_limit == 0 && p.gpu[1].wait == 0 &&
		    p.gpu[1].capabilities == (GPU_CAP_COMPUTE | GPU_CAP_UTILITY),
		    "the defaults of a GPU rule are one GPU, exclusive, for compute");
		ok(p.gpu[4].vendor == GPU_AMD && p.gpu[4].line == 7, "each GPU rule has its line");
		ok(p.gpu[2].nodes == (EXTRA_IMEX | EXTRA_GDRDRV) && p.gpu[2].nodes_line == 7 && p.gpu[4].nodes == 0,
		    "nodes of other drivers are read");
		ok(!p.gpu[2].one_channel && p.gpu[3].nodes == EXTRA_IMEX && p.gpu[3].one_channel && p.gpu[3].channel == 9,
		    "an IMEX channel is read, and counts beside the word without one");
	}
	if (is_int(p.folders, 2, "two folders are read")) {
		ok(!p.folder[0].writable && p.folder[0].subfolders && !p.folder[0].submounts &&
		    p.folder[0].target == NULL && p.folder[0].relabel == RELABEL_NO,
		    "a read-only folder is read");
		is_int(p.folder[1].relabel, RELABEL_PRIVATE, "the relabel key of a folder is read");
		ok(p.folder[1].writable && p.folder[1].submounts && strcmp(p.folder[1].target, "/out") == 0,
		    "a writable folder with a target is read");
	}
	ok(strcmp(p.selinux_type, "nvidia_container_t") == 0 &&
	    strcmp(p.selinux_level, "auto") == 0,
	    "the selinux group is read");
	ok(p.env.n == 2 && strcmp(p.env.v[0], "A=1=2") == 0 && strcmp(p.env.v[1], "b_9= ") == 0,
	    "env is read");
}

static void
test_policy_defaults(void)
{
	autofaults struct faults f = { 0 };
	autopolicy struct policy p;

	ok(policy_parse("x", TEXT(P), &p, &f), "the smallest policy is read");
	ok(p.issuer == NULL && p.identity == IDENTITY_TOKEN && !p.has_jobs && !p.has_callers &&
	    !p.instance_vars.there && p.gpus == 0 &&
	    p.selinux_type == NULL && !p.folder[0].writable && !p.folder[0].subfolders,
	    "the defaults are a token, and read-only access to the named folders");
	ok(strcmp(identity_name(IDENTITY_TOKEN), "token") == 0 && strcmp(identity_name(IDENTITY_CALLER), "caller") == 0,
	    "the identities have their names");
}

static void
test_settings_types(void)
{
	static const struct wrong t[] = {
		{ TEXT("\nruntime = 1;"), "2: runtime must be a string in double quotes" },
		{ TEXT("runtime = \"runc\";"), "1: path \"runc\" is not absolute" },
		{ TEXT("runtime = \"/usr/../runc\";"), "1: path \"/usr/../runc\" has a \".\" or \"..\" in it" },
		{ TEXT("volumes = \"/srv\";"), "1: volumes must be a list of strings: [ \"/srv\" ]" },
		{ TEXT("volumes = [ \"srv\", \"/\" ];"), "1: path \"srv\" is not absolute\n"
		    "1: volumes: \"/\" would let a task take the host for its root" },
		{ TEXT("volumes = [ 1 ];"), "1: volumes must be a string in double quotes" },
		{ TEXT("privileged = true;"), "1: privileged must be one of \"deny\", \"hide-gpus\", \"allow\"" },
		{ TEXT("privileged = \"hide-gpu\";"), "1: privileged = \"hide-gpu\" is unknown; did you mean "
		    "\"hide-gpus\"?" },
		{ TEXT("grant_unasked = 1;"), "1: grant_unasked must be true or false" },
		{ TEXT("allow_integrated = \"true\";"), "1: allow_integrated must be true or false" },
		{ TEXT("door = true;"), "1: door must be one of \"auto\", \"socket\", \"setuid\"" },
		{ TEXT("door = \"sockte\";"), "1: door = \"sockte\" is unknown; did you mean \"socket\"?" },
		{ TEXT("unenforced = true;"), "1: unenforced must be one of \"deny\", \"allow\"" },
		{ TEXT("team_shares = [ 1 ];"), "1: team_shares must be a group of at most 256: { TEAM = PARTS; ... }" },
		{ TEXT("team_shares = { ml = 0; };"), "1: ml must be a number from 1 to 1000" },
		{ TEXT("team_shares = { ml = 1001; };"), "1: ml must be a number from 1 to 1000" },
		{ TEXT("team_shares = { ml = \"3\"; };"), "1: ml must be a number from 1 to 1000" },
		{ TEXT("max_wait = 86401;"), "1: max_wait must be a number from 0 to 86400" },
		{ TEXT("max_wait = \"4m\";"), "1: max_wait must be a number from 0 to 86400" },
		{ TEXT("placeholder_init = \"/tmp/gdn-init\";"), "1: placeholder_init must be a list of strings: [ \"/tmp/gdn-init\" ]" },
		{ TEXT("placeholder_init = [ \"gdn-init\" ];"), "1: path \"gdn-init\" is not absolute" },
		{ TEXT("placeholder_init = [ \"/a\",\n\"/tmp/../b\", \"/c/\" ];"),
		    "1: path \"/tmp/../b\" has a \".\" or \"..\" in it\n"
		    "1: path \"/c/\" has an empty component or ends with \"/\"" },
		{ TEXT("placeholder_init = [ 1 ];"), "1: placeholder_init must be a string in double quotes" },
		{ TEXT("idle = true;"), "1: idle must be one of \"give-back\", \"stop\", \"keep\"" },
		{ TEXT("idle = \"give-bakc\";"), "1: idle = \"give-bakc\" is unknown; did you mean \"give-back\"?" },
		{ TEXT("idle = 0;"), "1: idle must be one of \"give-back\", \"stop\", \"keep\"" },
		{ TEXT("first_exec = 0;"), "1: first_exec must be a number from 1 to 86400" },
		{ TEXT("first_exec = 86401;"), "1: first_exec must be a number from 1 to 86400" },
		{ TEXT("first_exec = \"30\";"), "1: first_exec must be a number from 1 to 86400" },
		{ TEXT("first_exec = -1;"), "1: first_exec must be a number from 1 to 86400" },
		{ TEXT("left_behind = 86401;"), "1: left_behind must be a number from 0 to 86400" },
		{ TEXT("left_behind = -1;"), "1: left_behind must be a number from 0 to 86400" },
		{ TEXT("left_behind = 4294967295;"), "1: \"4294967295\" is not a plain number of at most nine digits" },
		{ TEXT("left_behind = true;"), "1: left_behind must be a number from 0 to 86400" },
		{ TEXT("left_behind = [ 1 ];"), "1: left_behind must be a number from 0 to 86400" },
		{ TEXT("left_behind = \"60\";"), "1: left_behind must be one of \"keep\"" },
		{ TEXT("left_behind = \"kepe\";"), "1: left_behind = \"kepe\" is unknown; did you mean \"keep\"?" },
		{ TEXT("lift_behind = 60;"), "1: unknown key \"lift_behind\"; did you mean \"left_behind\"?" },
		{ TEXT("selinux = { plain = \"spc_t\"; };"), "1: plain must be one of \"keep\", \"container_t\"" },
		{ TEXT("audit = true;"), "1: expected a group: { key = value; ... }" },
		{ TEXT("audit = { plain = 1; palin = true; };"), "1: plain must be true or false\n"
		    "1: unknown key \"palin\"; did you mean \"plain\"?" },
		{ TEXT("run_time = \"/usr/sbin/runc\";\nvolume = [ ];\nmax_wiat = 3;"),
		    "1: unknown key \"run_time\"; did you mean \"runtime\"?\n2: unknown key \"volume\"; did you mean "
		    "\"volumes\"?\n"
		    "3: unknown key \"max_wiat\"; did you mean \"max_wait\"?" },
		{ TEXT("pipeline = \"a/b\";"), "1: unknown key \"pipeline\"" },
		{ TEXT("@include \"/etc/passwd\"\n"), "1: @include is not allowed: each file must be complete" },
		{ TEXT("max_wait = 1;\nmax_wait = 2;"), "2: \"max_wait\" is set twice: line 1 has it, too" },
	};

	check_refused(t, COUNT(t), true);
}

#define ISSUER(s) "issuers = (\n{ " s " } );"
#define WHOLE "url = \"https://ci.example.org\"; audience = \"gpu\"; keys = \"/etc/gpuhelper/keys/ci.json\";"
#define NEEDS "2: an issuers entry needs url, audience and keys"

static void
test_issuers(void)
{
	static const struct wrong t[] = {
		{ TEXT("issuers = [ ];"), "1: issuers must be a list of groups: ( { ... }, { ... } )" },
		{ TEXT("issuers = { };"), "1: issuers must be a list of groups: ( { ... }, { ... } )" },
		{ TEXT("issuers = ( 1 );"), "1: expected a group: { key = value; ... }" },
		{ TEXT(ISSUER("")), NEEDS },
		{ TEXT(ISSUER("url = \"https://x\"; audience = \"gpu\";")), NEEDS },
		{ TEXT(ISSUER("url = \"https://x\"; keys = \"/k\";")), NEEDS },
		{ TEXT(ISSUER("keys = \"/k\"; audience = \"gpu\";")), NEEDS },
		{ TEXT(ISSUER("url = \"http://x\"; keys = \"/k\"; audience = \"gpu\";")),
		    "2: url must be the issuer's own, as in its tokens: \"https://HOST\"" },
		{ TEXT(ISSUER("url = \"https://\"; keys = \"/k\"; audience = \"gpu\";")),
		    "2: url must be the issuer's own, as in its tokens: \"https://HOST\"" },
		{ TEXT(ISSUER("url = \"https://x\"; keys = \"k\"; audience = \"gpu\";")),
		    "2: path \"k\" is not absolute" },
		{ TEXT(ISSUER(WHOLE "audience2 = \"x\";")),
		    "2: unknown key \"audience2\"; did you mean \"audience\"?" },
		{ TEXT(ISSUER(WHOLE "max_age = 0;")), "2: max_age must be a number from 1 to 86400" },
		{ TEXT(ISSUER(WHOLE "max_age = 86401;")), "2: max_age must be a number from 1 to 86400" },
		{ TEXT(ISSUER(WHOLE "keys_max_age = true;")), "2: keys_max_age must be a number from 0 to 31622400" },
		{ TEXT(ISSUER(WHOLE "token_reuse = true;")), "2: token_reuse must be one of \"deny\", \"allow\"" },
		{ TEXT(ISSUER(WHOLE "keys_host = \"a.example/x\";")), "2: keys_host must be \"HOST\" or \"HOST:PORT\"; \"a.example/x\" is not" },
		{ TEXT(ISSUER(WHOLE "keys_host = \"u@a.example\";")), "2: keys_host must be \"HOST\" or \"HOST:PORT\"; \"u@a.example\" is not" },
		{ TEXT(ISSUER(WHOLE "pipeline = \"sub\";")), "2: " NO_SUB },
		{ TEXT(ISSUER(WHOLE "team = \"\";")), "2: team is empty" },
		{ TEXT(ISSUER(WHOLE "job = 1;")), "2: job must be a string in double quotes" },
		{ TEXT(ISSUER(WHOLE "reuse_by = \"iat\";")), "2: \"iat\" is checked in every token already: leave it out" },
		{ TEXT(ISSUER(WHOLE "reuse_by = \"job_id\"; token_reuse = \"allow\";")),
		    "2: token_reuse = \"allow\" lets any container use a token again: leave it out, or reuse_by" },
		{ TEXT(ISSUER(WHOLE "token_bytes = 16385;")), "2: token_bytes must be a number from 1024 to 16384" },
		{ TEXT(ISSUER(WHOLE "token_variable = \"A-B\";")), "2: token_variable must be the name of a variable that has a "
		    "token and nothing else; \"A-B\" is not" },
		{ TEXT(ISSUER(WHOLE "token_variable = \"PATH\";")), "2: token_variable must be the name of a variable that has a "
		    "token and nothing else; \"PATH\" is not" },
		{ TEXT(ISSUER(WHOLE "token_variable = \"NVIDIA_VISIBLE_DEVICES\";")), "2: token_variable must be the name of a "
		    "variable that has a token and nothing else; \"NVIDIA_VISIBLE_DEVICES\" is not" },
		{ TEXT("issuers = ( { " WHOLE " },\n{ " WHOLE " } );"),
		    "2: issuer https://ci.example.org appears twice" },
	};
	autofaults struct faults f = { 0 };
	autobuf struct buf b = { 0 };
	struct settings s;
	int i;

	check_refused(t, COUNT(t), true);
	buf_puts(&b, "issuers = ( ");
	for (i = 0; i < ISSUERS_MAX; i++)
		buf_printf(&b, "%s{ url = \"https://%d\"; audience = \"x\"; keys = \"/k\"; }", i ? "," : "", i);
	buf_puts(&b, ");");
	ok(settings_parse(b.p, b.len, &s, &f) && s.issuers == ISSUERS_MAX,
	    "%d issuers are accepted", ISSUERS_MAX);
	settings_free(&s);
	b.len -= 2;
	buf_puts(&b, ",{} );");
	ok(!settings_parse(b.p, b.len, &s, &f) && strcmp(f.v[0].text, "issuers has 33 entries: at most 32 are read") == 0,
	    "one issuer more is refused");
	settings_free(&s);
	faults_free(&f);
	ok(settings_parse(TEXT("issuers = ( );"), &s, &f) && s.issuers == 0,
	    "an empty list of issuers is accepted");
	settings_free(&s);
	ok(settings_parse(TEXT("issuers = ( { " WHOLE " },\n { url = \"https://b\"; audience = \"b\"; keys = \"/b\"; "
	    "max_age = 60; keys_max_age = 0; token_reuse = \"allow\"; team = \"org\"; pipeline = \"repo\"; job = \"j\"; "
	    "token_bytes = 16384; token_variable = \"CI_TOKEN\"; require = { ok = true; }; },\n { url = \"https://c\"; "
	    "audience = \"c\"; keys = \"/c\"; reuse_by = \"job_id\"; } );"), &s, &f) && s.issuers == 3,
	    "two issuers are read");
	ok(strcmp(s.issuer[0].url, "https://ci.example.org") == 0 && strcmp(s.issuer[0].audience, "gpu") == 0 &&
	    strcmp(s.issuer[0].keys, "/etc/gpuhelper/keys/ci.json") == 0 && s.issuer[0].max_age > 0 &&
	    s.issuer[0].keys_max_age == 172800 && !s.issuer[0].token_reuse && s.issuer[0].line == 1,
	    "an issuer with defaults is read");
	ok(s.issuer[1].max_age == 60 && s.issuer[1].keys_max_age == 0 && s.issuer[1].token_reuse &&
	    s.issuer[1].line == 2, "an issuer with values of its own is read");
	ok(s.issuer[0].claims.team == NULL && s.issuer[0].claims.pipeline == NULL && s.issuer[0].claims.job == NULL &&
	    s.issuer[0].claims.bytes == 8192 && s.issuer[0].variable == NULL && s.issuer[0].claims.require.name.n == 0 &&
	    s.issuer[0].claims.reuse_by == NULL, "its claims are Concourse's by default");
	ok(strcmp(s.issuer[1].claims.team, "org") == 0 && strcmp(s.issuer[1].claims.pipeline, "repo") == 0 &&
	    strcmp(s.issuer[1].claims.job, "j") == 0 && s.issuer[1].claims.bytes == 16384 &&
	    strcmp(s.issuer[1].variable, "CI_TOKEN") == 0 && strcmp(claim_set_value(&s.issuer[1].claims.require, "ok"), "true") == 0 &&
	    strcmp(s.issuer[2].claims.reuse_by, "job_id") == 0, "claims of its own are read");
	settings_free(&s);
}

static void
test_settings_read(void)
{
	static const char text[] = "runtime = \"/usr/sbin/runc\"; volumes = [ \"/a\", \"/b/c\" ]; privileged = "
	    "\"deny\";\n"
	    "grant_unasked = true; allow_integrated = true; unenforced = \"allow\"; max_wait = 0; audit = { plain = "
	    "true; }; selinux = { plain = \"container_t\"; };\n";
	autofaults struct faults f = { 0 };
	struct settings s;

	ok(settings_parse(TEXT(""), &s, &f), "an empty file is accepted");
	ok(s.runtime == NULL && s.volumes.n == 5 && strlist_has(&s.volumes, "/worker-state/volumes") &&
	    s.privileged == PRIVILEGED_DENY && !s.grant_unasked && !s.allow_integrated && !s.unenforced &&
	    !s.audit_plain && !s.plain_container && s.max_wait == 43200,
	    "an empty file gives the defaults");
	ok(s.placeholder_init.n == 2 && strlist_has(&s.placeholder_init, "/tmp/gdn-init") &&
	    strlist_has(&s.placeholder_init, "/tmp/garden-init") && s.idle == IDLE_GIVE_BACK &&
	    s.left_behind == 60 && s.task_execs.n == 1 && strlist_has(&s.task_execs, "task"), "an empty file gives the defaults for containers that pause");
	settings_free(&s);
	ok(settings_parse(TEXT(text), &s, &f) && f.n == 0, "a file with every setting is accepted");
	ok(strcmp(s.runtime, "/usr/sbin/runc") == 0 && s.volumes.n == 2 && strcmp(s.volumes.v[1], "/b/c") == 0 &&
	    s.privileged == PRIVILEGED_DENY && s.grant_unasked && s.allow_integrated && s.unenforced && s.audit_plain &&
	    s.plain_container && s.max_wait == 0, "every setting replaces its default");
	settings_free(&s);
	ok(settings_parse(TEXT("volumes = [ ];\nprivileged = \"allow\"\nunenforced = \"deny\" # last"), &s, &f) &&
	    f.n == 0 &&
	    s.volumes.n == 0 && s.privileged == PRIVILEGED_ALLOW && !s.unenforced,
	    "an empty list of volumes leaves the bundle alone as a root");
	ok(s.door == DOOR_AUTO, "the door is found automatically by default");
	settings_free(&s);
	ok(settings_parse(TEXT("door = \"socket\";"), &s, &f) && s.door == DOOR_BY_SOCKET,
	    "the door may be the socket");
	settings_free(&s);
	ok(settings_parse(TEXT("door = \"setuid\";"), &s, &f) && s.door == DOOR_BY_SETUID,
	    "the door may be the setuid helper");
	settings_free(&s);
}

/* The settings for containers that pause. */
static void
test_settings_idle(void)
{
	static const struct {
		const char *text;
		enum idle_setting idle;
		unsigned left_behind;
		size_t inits, tasks;
	} t[] = {
		{ "idle = \"give-back\";", IDLE_GIVE_BACK, 60, 2, 1 },
		{ "idle = \"stop\";", IDLE_STOP, 60, 2, 1 },
		{ "idle = \"keep\";", IDLE_KEEP, 60, 2, 1 },
		{ "first_exec = 1;", IDLE_GIVE_BACK, 60, 2, 1 },
		{ "first_exec = 86400;", IDLE_GIVE_BACK, 60, 2, 1 },
		{ "left_behind = 0;", IDLE_GIVE_BACK, 0, 2, 1 },
		{ "left_behind = 86400;", IDLE_GIVE_BACK, 86400, 2, 1 },
		{ "left_behind = \"keep\";", IDLE_GIVE_BACK, LEFT_BEHIND_KEEP, 2, 1 },
		{ "placeholder_init = [ ];", IDLE_GIVE_BACK, 60, 0, 1 },
		{ "placeholder_init = [ \"/a\", \"/b/c\", \"/pause\" ];", IDLE_GIVE_BACK, 60, 3, 1 },
		{ "placeholder_init = [ \"/pause\" ]; idle = \"stop\"; left_behind = 8;", IDLE_STOP, 8, 1, 1 },
		{ "task_execs = [ ];", IDLE_GIVE_BACK, 60, 2, 0 },
		{ "task_execs = [ \"task\", \"build\" ];", IDLE_GIVE_BACK, 60, 2, 2 },
	};
	struct settings s;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		autofaults struct faults f = { 0 };

		ok(settings_parse(t[i].text, strlen(t[i].text), &s, &f) && f.n == 0, "%s", t[i].text);
		ok(s.idle == t[i].idle && s.left_behind == t[i].left_behind &&
		    s.placeholder_init.n == t[i].inits && s.task_execs.n == t[i].tasks, "  the values are read");
		ok(t[i].inits == 0 || t[i].inits == 2 || strcmp(s.placeholder_init.v[t[i].inits - 1], "/pause") == 0,
		    "  a list replaces the default list");
		settings_free(&s);
	}
}

static void
test_salvage(void)
{
	static const struct {
		const char *text, *path;
	} t[] = {
		{ "", NULL }, { "x", NULL }, { "runtime", NULL }, { "runtime =", NULL }, { "runtime = \"", NULL },
		{ "runtime = \"/usr/sbin/runc\";", "/usr/sbin/runc" }, { "runtime=\"/r\"", "/r" },
		    { "runtime:\"/r\"", "/r" },
		{ "garbage {\n\t runtime \t=\t \"/r\" ; more garbage", "/r" },
		    { "# runtime = \"/no\";\nruntime = \"/r\";", "/r" },
		{ "runtime = \"relative\";\nruntime = \"/r\";", "/r" }, { "runtime = \"/a\\\\b\";", NULL },
		{ "runtime = \"/a/../b\";", NULL }, { "runtime = \"/a\nb\";", NULL }, { "runtimes = \"/a\";", NULL },
		{ "runtime = /a;", NULL }, { "xruntime = \"/a\";", NULL }, { "x = 1; runtime = \"/a\";", NULL },
		{ "runtime = \"/a\";\nruntime = \"/b\";", "/a" }, { "\nruntime = \"/a\"", "/a" },
		    { "runtime\n= \"/a\"", NULL },
	};
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		autofree char *path = settings_salvage_runtime(t[i].text);

		is_str(path, t[i].path,
		    "the runtime is salvaged from a broken file: %s", t[i].text);
	}
}

/* The installed example files must be valid. */
static void
test_examples(const char *dir)
{
	static const char *const names[] = { "gpuhelper.conf", "10-train.conf.example",
		"20-pull-requests.conf.example", "90-charm-folders.conf.example" };
	char path[512], text[CONF_MAX];
	size_t i, len;
	FILE *f;

	for (i = 0; i < COUNT(names); i++) {
		autofree char *faults = NULL;
		bool good;

		snprintf(path, sizeof(path), "%s/../policy.d/%s", dir, names[i]);
		if ((f = fopen(path, "r")) == NULL) {
			ok(false, "%s exists", names[i]);
			continue;
		}
		len = fread(text, 1, sizeof(text) - 1, f);
		text[len] = '\0';
		fclose(f);
		faults = strcmp(names[i], "gpuhelper.conf") == 0 ? settings_faults(text, len, &good) :
		    policy_faults(text, len, &good);
		ok(good, "%s parses: %s", names[i], faults);
	}
}

int
main(int argc, char **argv)
{
	test_text_refused();
	test_one_a_cause();
	test_text_taken();
	test_lines();
	test_all_faults();
	test_many_faults();
	test_many_gpus();
	test_sizes();
	test_time();
	test_policy_types();
	test_gpu_types();
	test_folder_types();
	test_claims();
	test_many_claims();
	test_whole_policy();
	test_policy_read();
	test_policy_defaults();
	test_settings_types();
	test_issuers();
	test_settings_read();
	test_settings_idle();
	test_salvage();
	test_examples(tests_dir(argc, argv));
	return done_testing();
}
