/*
 * gpuhelper-read's table is read back as it was written (ask/parsed.h); and what the helper accepts
 * of it (ask/parsedcheck.h).
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/parsedcheckspec.h"
#include "ask/parsedpolicy.h"
#include "ask/readquery.h"
#include "ask/parsed.h"
#include "ask/parsedcheck.h"
#include "ask/parsedspec.h"
#include "base/cleanup.h"
#include "policy/claimsetadd.h"
#include "read/answer.h"
#include "read/cdi/cdispec.h"
#include "read/parse.h"
#include "read/readquestion.h"
#include "read/conf/settingsread.h"
#include "rnd.h"
#include "tap.h"

#define SETTINGS "runtime = \"/usr/sbin/crun\";\nvolumes = [ \"/srv/volumes\" ];\nprivileged = \"deny\";\ndoor = \"setuid\";\n" \
	"idle = \"keep\";\nleft_behind = \"keep\";\ncdi_hooks = \"allow\";\nunenforced = \"allow\";\naudit = { plain = true; };\n" \
	"driver_files = \"vendor-runtime\";\nissuers = ( { url = \"https://ci\"; audience = \"a b\"; keys = \"/etc/gpuhelper/keys/ci\"; " \
	"max_age = 7; token_reuse = \"allow\"; team = \"org\"; pipeline = \"repo name\"; job = \"step\"; token_bytes = 16000; " \
	"token_variable = \"CI_TOKEN\"; require = { ok = true; org_id = \"7 %\"; }; },\n" \
	"  { url = \"https://other\"; audience = \"a\"; keys = \"/etc/gpuhelper/keys/other\"; reuse_by = \"job_id\"; } );\n" \
	"team_shares = { ml = 3; web = 1; };\n"
#define POLICY "pipeline = \"ml/tr*\"; jobs = [ \"fit\" ]; callers = [ \"concourse\" ]; issuer = \"https://ci\";\n" \
	"instance_vars = { branch = \"main\"; n = 7; }; claims = { ref = [ \"main\", \"v *\" ]; ok = true; n = 7; };\n" \
	"gpus = ( { vendor = \"nvidia\"; devices = [ \"0\", \"3b:00.0\" ]; count = 2; sharing = \"shared\"; share_limit = 3; wait = 9; },\n" \
	"  { vendor = \"a.b/c\"; nodes = [ \"imex=9\" ]; mps = true; mig = \"whole\"; capabilities = [ \"video\" ]; } );\n" \
	"max_gpus = 12; max_waiting = 20; priority = 7;\n" \
	"folders = ( { path = \"/srv/in\"; access = \"ro\"; subfolders = true; },\n" \
	"  { path = \"/srv/o?t\"; access = \"rw\"; target = \"/out\"; submounts = true; relabel = \"private\"; } );\n" \
	"selinux = { type = \"nvidia_container_t\"; level = \"s0:c1,c2\"; };\nenv = { A = \"1=2 %\"; B = \"-\"; C = \"=\"; };\n"

struct table {
	struct settings settings;
	struct policy_set policies;
};

static void
table_free(struct table *t)
{
	settings_free(&t->settings);
	policy_set_free(&t->policies);
}

static char *
written(struct table *t, size_t *len)
{
	autobuf struct buf b = { 0 };
	struct lines s = { .out = &b };

	settings_lines(&s, &t->settings);
	policy_set_lines(&s, &t->policies);
	if (!lines_finish(&s))
		return NULL;
	*len = b.len;
	return buf_take(&b);
}

static bool
taken(const char *text, size_t len, struct table *t)
{
	struct lines s = { .at = text, .end = text + len };

	*t = (struct table){ .policies = { 0 } };
	settings_lines(&s, &t->settings);
	policy_set_lines(&s, &t->policies);
	return lines_finish(&s);
}

/* Makes a table from texts. */
static void
make(struct table *t, const char *settings, const char *const *policy, size_t n)
{
	autofaults struct faults f = { 0 };
	size_t i;

	*t = (struct table){ .policies = { .v = calloc(n + 1, sizeof(*t->policies.v)) } };
	ok(settings_parse(settings, strlen(settings), &t->settings, &f), "settings are parsed");
	for (i = 0; i < n; i++)
		ok(policy_entry_parse("10-a.conf", policy[i], strlen(policy[i]),
		    &t->policies.v[t->policies.n++]),
		    "a policy is parsed");
}

static void
test_there_and_back(void)
{
	static const char *const policies[] = { POLICY, "identity = \"caller\"; folders = ( { path = \"/srv/x\"; access = \"ro\"; } );",
		"gpus = ;" };
	autofree char *text = NULL, *again = NULL;
	struct table a, b;
	size_t len, n;
	struct why why;

	make(&a, SETTINGS, policies, 3);
	text = written(&a, &len);
	ok(taken(text, len, &b) && (again = written(&b, &n)) != NULL && n == len && memcmp(text, again, len) == 0,
	    "a table is written and read back, and is the same when written again");
	is_str(b.settings.issuer[0].audience, "a b", "a text with a space is the same");
	ok(strcmp(b.settings.issuer[0].claims.pipeline, "repo name") == 0 && b.settings.issuer[0].claims.bytes == 16000 &&
	    strcmp(b.settings.issuer[0].variable, "CI_TOKEN") == 0 && b.settings.issuer[1].claims.team == NULL &&
	    strcmp(claim_set_value(&b.settings.issuer[0].claims.require, "org_id"), "\"7 %") == 0 &&
	    strcmp(b.settings.issuer[1].claims.reuse_by, "job_id") == 0, "the claims of an issuer are the same");
	ok(b.policies.v[0].policy.claims.name.n == 4 && strcmp(b.policies.v[0].policy.claims.value.v[1], "\"v *") == 0 &&
	    strcmp(b.policies.v[0].policy.claims.value.v[3], "7") == 0, "the claims of a policy are the same");
	is_str(b.policies.v[0].policy.env.v[0], "A=1=2 %",
	    "a text with escaped characters is the same");
	is_str(b.policies.v[0].policy.env.v[2], "C==", "a text with = is the same");
	ok(b.policies.v[0].policy.folder[1].relabel == RELABEL_PRIVATE &&
	    b.policies.v[0].policy.gpu[1].mps && b.policies.v[0].policy.gpu[1].one_channel &&
	    b.policies.v[0].policy.gpu[1].channel == 9,
	    "the last folder and the last GPU rule are the same");
	ok(b.settings.team_shares.n == 2 && strcmp(b.settings.team_shares.v[0], "ml=3") == 0, "shares are the same");
	ok(b.policies.v[0].policy.max_gpus == 12 && b.policies.v[0].policy.max_waiting == 20 &&
	    b.policies.v[0].policy.priority == 7 && b.policies.v[1].policy.priority == PRIORITY_DEFAULT, "quotas are the same");
	ok(b.policies.v[1].policy.team == NULL &&
	    b.policies.v[1].policy.identity == IDENTITY_CALLER,
	    "a policy without a pipeline is the same");
	ok(b.policies.v[2].broken != NULL && strcmp(b.policies.v[2].policy.name, "10-a.conf") == 0,
	    "a broken policy is read with its fault");
	is_int(parsed_check(&b.settings, &b.policies, &why), 0, "the table is accepted");
	table_free(&a);
	table_free(&b);
}

/*
 * Truncates anywhere, and changes any byte: the result is another table or a refusal, and nothing
 * beyond the end is read.
 */
static void
test_damaged(void)
{
	static const char *const policies[] = { POLICY, "gpus = ;" };
	autofree char *text = NULL;
	size_t len, i, cut = 0;
	struct table a, b;

	make(&a, SETTINGS, policies, 2);
	text = written(&a, &len);
	table_free(&a);
	for (i = 0; i < len; i++) {
		/* each part has its own allocation, so that a sanitizer notices reads beyond it */
		autofree char *part = malloc(i + 1);

		memcpy(part, text, i);
		cut += taken(part, i, &b);
		table_free(&b);
	}
	is_int((long long)cut, 0, "no truncated table is read");
	for (i = 0; i < 20000; i++) {
		autofree char *other = malloc(len);

		memcpy(other, text, len);
		other[rnd(len)] = (char)rnd(256);
		(void)taken(other, len, &b);
		table_free(&b);
	}
	ok(true, "a table with a changed byte is not read beyond its end");
}

/* Members that a hostile reader could send, and why they are refused. */
static void
test_evil(void)
{
	static const struct {
		const char *from, *to;	/* a replacement in the table's text */
		const char *says;
	} t[] = {
		{ "/srv/in", "/proc/1", "an invalid folder" }, { "/srv/in", "/srv/../etc", "an invalid folder" },
		{ "/srv/in", "/etc/gpuhelper", "an invalid folder" }, { "/srv/in", "/", "an invalid folder" },
		{ " /out ", " /sys/x ", "an invalid folder" }, { "/srv/o?t", "/etc", "an invalid folder" },
		{ " nvidia_container_t", " a:b", "an invalid label" }, { "s0:c1,c2", "s0-s0:c0.c1023", "an invalid label" },
		{ "A=1", "GPUHELPER_X=1", "an invalid label or variable" }, { "A=1", "NVIDIA_VISIBLE_DEVICES=all", "an invalid label or variable" },
		{ "A=1=2%20%25", "A", "an invalid label or variable" },
		{ "/srv/volumes", "/", "an invalid path" }, { "/usr/sbin/crun", "crun", "an invalid path" },
		{ "https://ci", "http://ci", "an invalid issuer" }, { "/etc/gpuhelper/keys/ci", "ci", "an invalid issuer" },
		{ " 16000\n", " 16385\n", "an invalid issuer" }, { "172800 no - - - - job_id", "172800 yes - - - - job_id", "an invalid issuer" },
		{ "for 0 ml tr* https://ci", "for 0 ml tr* -", "an invalid identity" },
		{ "seconds 43200", "seconds 999999", "a time of more than a day" },
		{ "for 0 ml", "for 1 ml", "an invalid identity" }, { "ml tr* ", "- tr* ", "an invalid identity" },
		{ "gpu 3 yes 0 - 3 2 1 3 9", "gpu 3 yes 0 - 3 65 1 3 9", "an invalid gpus entry" },
		{ "gpu 3 yes 0 - 3 2 1 3 9", "gpu 3 yes 0 - 3 0 1 3 9", "an invalid gpus entry" },
		{ "gpu 3 yes 0 - 3 2 1 3 9", "gpu 3 yes 0 - 3 2 0 3 9", "an invalid gpus entry" },
		{ "gpu 3 yes 0 - 3 2 1 3 9", "gpu 3 no 0 - 3 2 1 3 9", "an invalid gpus entry" },
		{ "gpu 3 yes 0 - 3 2 1 3 9 3 ", "gpu 3 yes 0 - 3 2 1 3 9 999 ", "an invalid gpus entry" },
		{ " 4 4 yes 9 yes", " 4 4 yes 1048576 yes", "an invalid gpus entry" }, { " 4 4 yes 9 yes", " 1 4 yes 9 yes", "an invalid gpus entry" },
		{ " 4 4 yes 9 yes", " 36 4 yes 9 yes", "an invalid gpus entry" },
		{ " 4 4 yes 9 yes", " 4294967295 4 yes 9 yes", "an invalid gpus entry" },
	};
	static const char *const policies[] = { POLICY };
	autofree char *text = NULL;
	struct table a, b;
	struct why why;
	size_t len, i;

	make(&a, SETTINGS, policies, 1);
	text = written(&a, &len);
	table_free(&a);
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *at = strstr(text, t[i].from);
		autobuf struct buf evil = { 0 };

		if (!ok(at != NULL, "«%s» is found in the table", t[i].from))
			continue;
		buf_add(&evil, text, (size_t)(at - text));
		buf_puts(&evil, t[i].to);
		buf_puts(&evil, at + strlen(t[i].from));
		why = (struct why){ 0 };
		ok(taken(evil.p, evil.len, &b) && parsed_check(&b.settings, &b.policies, &why) == -1 && why.code == WHY_BUG &&
		    strstr(why.text, t[i].says) != NULL, "«%s» is refused: %s", t[i].to, why.text);
		table_free(&b);
	}
}

/* More entries than a file may have, and counts that do not fit. */
static void
test_bounds(void)
{
	static const char *const wrong[] = { "choices 3 0 0 0", "choices 0 4 0 0", "choices 0 0 3 0", "choices 0 0 0 3",
		"choices 0 0 0", "choices 0 0 0 0 0", "choices -1 0 0 0", "choices 0 0 0 18446744073709551616" };
	static const char *const policies[] = { POLICY };
	autobuf struct buf b = { 0 };
	autofree char *text = NULL;
	struct table a, back;
	const char *at, *end;
	size_t len, i;

	make(&a, SETTINGS, policies, 1);
	text = written(&a, &len);
	table_free(&a);
	at = strstr(text, "choices");
	end = strchr(at, '\n');
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		autobuf struct buf other = { 0 };

		buf_add(&other, text, (size_t)(at - text));
		buf_puts(&other, wrong[i]);
		buf_puts(&other, end);
		ok(!taken(other.p, other.len, &back), "%s", wrong[i]);
		table_free(&back);
	}
	at = strstr(text, "\ngpu ") + 1;
	end = strchr(at, '\n') + 1;
	buf_add(&b, text, (size_t)(at - text));
	for (i = 0; i < GPU_RULES_MAX; i++)
		buf_add(&b, at, (size_t)(end - at));
	len = b.len;
	buf_puts(&b, strstr(end, "folder "));
	ok(taken(b.p, b.len, &back) && back.policies.v[0].policy.gpus == GPU_RULES_MAX,
	    "%d GPU rules are accepted", GPU_RULES_MAX);
	table_free(&back);
	b.len = len;
	buf_add(&b, at, (size_t)(end - at));
	buf_puts(&b, strstr(end, "folder "));
	ok(!taken(b.p, b.len, &back), "one GPU rule more is refused");
	table_free(&back);
}

/* The program's real question and answer. */
static void
test_question(void)
{
	const struct read_file files[] = { { "/etc/gpuhelper/gpuhelper.conf", SETTINGS, strlen(SETTINGS) },
		{ "10-a.conf", POLICY, strlen(POLICY) }, { "20-empty.conf", "", 0 } };
	struct read_query a = { READ_POLICIES, (struct read_file *)(uintptr_t)files, 3 }, heard;
	autofree char *question = NULL, *answer = NULL, *cut = NULL;
	char wrong[512];
	size_t len, said, i, good = 0;
	struct lines s;
	struct why why;

	question = read_query_pack(&a, &len);
	ok(read_query_unpack(question, len, &heard, &why) && heard.files == 3 && heard.verb == READ_POLICIES &&
	    strcmp(heard.file[1].name, "10-a.conf") == 0 && heard.file[1].len == strlen(POLICY) && heard.file[2].len == 0,
	    "a question is packed and unpacked");
	answer = read_answer(&heard, &said);
	free(heard.file);
	s = (struct lines){ .at = answer, .end = answer + said };
	ok(read_answer_begin(&s, wrong, sizeof(wrong), &why), "the answer is read");
	for (i = 0; i < len; i++) {
		cut = malloc(i + 1);
		memcpy(cut, question, i);
		good += read_query_unpack(cut, i, &heard, &why);
		free(cut);
	}
	cut = NULL;
	is_int((long long)good, 0, "no truncated question is accepted");
	question[0] ^= 1;
	ok(!read_query_unpack(question, len, &heard, &why),
	    "a question of another version is refused");
	is_str(why.text,
	    "gpuhelper and gpuhelper-read differ in version: install both again (make install)",
	    "  the message says why");
	answer[5] ^= 1;
	s = (struct lines){ .at = answer, .end = answer + said };
	ok(!read_answer_begin(&s, wrong, sizeof(wrong), &why),
	    "an answer of another version is refused");
	is_str(why.text,
	    "gpuhelper and gpuhelper-read differ in version: install both again (make install)",
	    "  the message says why");
}

static void
test_wrong_settings(void)
{
	struct read_file file = { "/etc/gpuhelper/gpuhelper.conf", "volumes = 3;\n", 13 };
	struct read_query a = { READ_POLICIES, &file, 1 };
	autofree char *answer = NULL;
	char wrong[512];
	struct lines s;
	struct why why;
	size_t len;

	answer = read_answer(&a, &len);
	s = (struct lines){ .at = answer, .end = answer + len };
	ok(!read_answer_begin(&s, wrong, sizeof(wrong), &why), "broken settings are refused");
	ok(why.code == WHY_CONFIG &&
	    strncmp(why.text, "/etc/gpuhelper/gpuhelper.conf:1: ", 33) == 0,
	    "  the message says where: %s", why.text);
}

/* Compares a spec of the fixtures from its own parser with the one from the program. */
static void
check_spec(const char *name, const char *text, size_t len)
{
	struct read_file file = { name, text, len };
	struct read_query a = { READ_SPECS, &file, 1 };
	autocdi struct cdi_spec spec = { 0 }, back = { 0 };
	autocdifaults struct cdi_faults faults = { 0 }, told = { 0 };
	autofree char *answer = NULL, *again = NULL;
	autobuf struct buf b = { 0 };
	struct lines s, out = { .out = &b };
	enum cdi_format format;
	bool usable = false, is;
	char wrong[512];
	struct why why = { 0 };
	size_t n;

	if (!cdi_format_of(name, &format))
		return;
	is = cdi_parse(&spec, format, text, len, &faults) && faults.unsafe <= faults.unsafe_hooks;
	answer = read_answer(&a, &n);
	s = (struct lines){ .at = answer, .end = answer + n };
	if (!ok(read_answer_begin(&s, wrong, sizeof(wrong), &why), "%s: an answer is read", name))
		return;
	cdi_file_lines(&s, &usable, &back, &told);
	if (!ok(lines_finish(&s) && usable == is && told.unsafe == faults.unsafe &&
	    told.invalid == faults.invalid,
	    "  the spec is read, with the same number of faults"))
		return;
	if (faults.n > 0)
		is_str(told.v[0].text, cdi_first_fault(&faults)->text, "  the first fault is the same");
	is_str(cdi_kind_of(&back), cdi_kind_of(&spec), "  the kind is the same");
	ok(back.empty == spec.empty, "  and so is whether it has no devices");
	if (!usable)
		return;
	is_int(parsed_check_spec(&back, &why), 0,
	    "  the spec is accepted%s%s", why.code != WHY_NONE ? ": " : "", why.text);
	(void)read_answer_begin(&out, (char *)(uintptr_t)"", 0, &why);
	cdi_file_lines(&out, &usable, &back, &told);
	ok(lines_finish(&out) && b.len == n && memcmp(b.p, answer, n) == 0,
	    "  written again, it is the same bytes");
}

/* Checks all specs of a directory. Returns their number. */
static unsigned
check_specs(const char *dir, const char *name)
{
	static char text[CDI_TEXT_MAX + 1];
	char path[1024];
	unsigned n = 0;
	struct dirent *e;
	DIR *d;
	FILE *f;

	snprintf(path, sizeof(path), "%s/fixtures/cdi/%s", dir, name);
	if ((d = opendir(path)) == NULL)
		return 0;
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/fixtures/cdi/%s/%s", dir, name, e->d_name);
		if (e->d_name[0] == '.' || (f = fopen(path, "r")) == NULL)
			continue;
		const size_t len = fread(text, 1, sizeof(text) - 1, f);

		text[len] = '\0';
		fclose(f);
		check_spec(e->d_name, text, len);
		n++;
	}
	closedir(d);
	return n;
}

/* Specs that a hostile reader could send. */
static void
test_evil_spec(void)
{
	static const struct { const char *host, *target, *node; bool good; } t[] = {
		{ "/usr/lib/a", "/usr/lib/a", "/dev/nvidia0", true }, { "/usr/lib/a", "/proc/1", "/dev/nvidia0", false },
		{ "/usr/lib/a", "/", "/dev/nvidia0", false }, { "/usr/lib/a", "a", "/dev/nvidia0", false },
		{ "/usr/lib/../a", "/a", "/dev/nvidia0", false }, { "", "/a", "/dev/nvidia0", false },
		{ "/a", "/dev/null", "/dev/nvidia0", false }, { "/a", "/b", "/etc/passwd", false }, { "/a", "/b", "dev/x", false },
	};
	struct cdi_mount m = { 0 };
	struct cdi_devnode n = { 0 };
	struct cdi_spec s = { .kind = (char *)(uintptr_t)"a.b/c", .edits = { .mount = &m, .mounts = 1, .node = &n, .nodes = 1 } };
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		m.host_path = (char *)(uintptr_t)t[i].host;
		m.container_path = (char *)(uintptr_t)t[i].target;
		n.path = (char *)(uintptr_t)t[i].node;
		is_int(parsed_check_spec(&s, &why), t[i].good ? 0 : -1,
		    "%s at %s, %s", t[i].host, t[i].target, t[i].node);
	}
	n.path = NULL;
	is_int(parsed_check_spec(&s, &why), -1, "a spec with a node without a path is refused");
}

int
main(int argc, char **argv)
{
	const char *dir = tests_dir(argc, argv);

	test_there_and_back();
	test_damaged();
	test_evil();
	test_bounds();
	test_question();
	test_wrong_settings();
	ok(check_specs(dir, "good") > 10 && check_specs(dir, "unsafe") > 20 &&
	    check_specs(dir, "bad") > 20,
	    "the specs of the fixtures are found");
	test_evil_spec();
	return done_testing();
}
