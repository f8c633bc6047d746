/*
 * What gpuhelper-engine adds for a driver is read back as it was written; which of its lies every wrapper refuses
 * (ask/driveredits.h, user/vet/takedriver.h); and how it is added to the rest of a grant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/driveredits.h"
#include "base/cleanup.h"
#include "lease/editsdriver.h"
#include "nomem.h"
#include "policy/grantedgpu.h"
#include "rnd.h"
#include "tap.h"
#include "user/vet/takedriver.h"

static const char *const ro[] = { "bind", "ro", "nosuid", "nodev", NULL };

static void
add_text(struct strlist *l, const char *text)
{
	(void)strlist_add(l, text, SIZE_MAX);
}

static void
add_hook(struct edits *e)
{
	struct edit_hook *h = edits_add_hook(e);

	h->when = strdup("createContainer");
	h->path = strdup("/opt/driver/hook");
	h->timeout = 5;
	add_text(&h->args, "hook");
	add_text(&h->env, "A=1");
}

/* One of everything. */
static void
make(struct edits *e)
{
	*e = (struct edits){ 0 };
	(void)edits_add_mount(e, "/opt/driver/libcuda.so", "/usr/lib/libcuda.so", ro);
	add_hook(e);
	(void)edits_add_env(e, "FROM_SPEC=1");
	(void)edits_add_note(e, "a note");
	add_text(&e->masked, "/proc/driver/nvidia/gpus/0000:af:00.0");
}

/* Both texts, as lines. */
static char *
encode(const struct edits *e)
{
	struct driver_edits d = { 0 };
	char *text = NULL;

	if (!driver_edits_encode(e, &d) || asprintf(&text, "%s\n%s", d.files, d.process) == -1)
		text = NULL;
	driver_edits_free(&d);
	return text;
}

static char *
text_of(struct edits *e)
{
	char *text = encode(e);

	edits_free(e);
	return text;
}

static int
decode(const char *text, struct edits *out, struct why *why)
{
	const char *end = strchr(text, '\n');
	autofree char *files = end != NULL ? strndup(text, (size_t)(end - text)) : strdup(text);

	*out = (struct edits){ 0 };
	return files == NULL ? -1 : driver_edits_decode(files, end != NULL ? end + 1 : "", out, why);
}

static char *
sample(void)
{
	struct edits e;

	make(&e);
	return text_of(&e);
}

static void
test_there_and_back(void)
{
	autofree char *text = sample(), *again = NULL, *cut = NULL;
	autocontaineredits struct edits e = { 0 };
	struct why why = { 0 };
	size_t i, n, good = 0;

	if (!ok(decode(text, &e, &why) == 0, "edits are written and read back %s", why.text))
		return;
	ok(e.mounts == 1 && e.mount[0].driver && strcmp(e.mount[0].source, "/opt/driver/libcuda.so") == 0 &&
	    e.mount[0].options.n == 4, "  mounts, as the driver's");
	ok(e.hooks == 1 && e.hook[0].timeout == 5 && strcmp(e.hook[0].args.v[0], "hook") == 0 &&
	    strcmp(e.hook[0].env.v[0], "A=1") == 0, "  hooks");
	ok(e.env.n == 1 && e.masked.n == 1 && e.notes.n == 1, "  variables, paths to hide and notes");
	is_str(again = encode(&e), text, "  written again, they are the same text");
	n = strlen(text);
	cut = strdup(text);
	for (i = n; i-- > 0;) {
		struct edits part;

		cut[i] = '\0';
		good += decode(cut, &part, &why) == 0;
		edits_free(&part);
	}
	is_int((long long)good, 0, "  no truncated text is accepted");
}

struct lie {
	const char *from, *to, *what;
};

static const struct lie lies[] = {
	{ "/opt/driver/libcuda.so", "opt/x", "a relative source" }, { "/opt/driver/libcuda.so", "", "an empty source" },
	{ "/opt/driver/libcuda.so", "/opt/../etc/shadow", "a source that is not clean" },
	{ "/opt/driver/libcuda.so", "/opt/\xff", "a source that is not UTF-8" },
	{ "/opt/driver/libcuda.so", "/opt/\\u0000x", "a source with a NUL" },
	{ "/usr/lib/libcuda.so", "/", "the target /" }, { "/usr/lib/libcuda.so", "/proc", "the target /proc" },
	{ "/usr/lib/libcuda.so", "/proc/sys", "a target in /proc" }, { "/usr/lib/libcuda.so", "/sys/x", "a target in /sys" },
	{ "/usr/lib/libcuda.so", "/dev/x", "a target in /dev" },
	{ "/usr/lib/libcuda.so", "/usr/../dev/x", "a target that is not clean" },
	{ "/usr/lib/libcuda.so", "usr/lib", "a relative target" },
	{ "/usr/lib/libcuda.so", "/usr/\xff", "a target that is not UTF-8" },
	{ "nosuid", "suid", "the option suid" }, { "nodev", "dev", "the option dev" }, { "\"ro\"", "\"exec\"", "the option exec" },
	{ "\"ro\"", "\"rbind\"", "the option rbind" }, { "\"ro\"", "\"remount\"", "the option remount" },
	{ "\"ro\"", "\"\"", "an empty option" }, { ",\"nosuid\"", "", "a mount without nosuid" },
	{ ",\"nodev\"", "", "a mount without nodev" }, { "\"bind\",", "", "a mount without bind" },
	{ "\"options\"", "\"place\":\"8:1 /\",\"options\"", "a mount with a folder's file system path" },
	{ "\"options\"", "\"Options\"", "a mount without options" }, { "\"ro\"", "1", "an option that is no text" },
	{ "createContainer", "", "a hook at no time" }, { "createContainer", "createNothing", "a hook at no known time" },
	{ "createContainer", "\xff", "a hook's time that is not UTF-8" },
	{ "/opt/driver/hook", "hook", "a hook's relative path" }, { "[\"hook\"]", "[\"\xff\"]", "an argument that is not UTF-8" },
	{ "[\"hook\"]", "[1]", "an argument that is no text" }, { "[\"hook\"]", "{}", "arguments that are no list" },
	{ "A=1", "\xff", "a hook's variable that is not UTF-8" }, { ":5}", ":-1}", "a negative time limit" },
	{ ":5}", ":4294967296}", "a time limit that is too long" }, { ",\"timeout\":5", "", "a hook without a time limit" },
	{ "FROM_SPEC=1", "FROM_SPEC", "a variable without =" }, { "FROM_SPEC=1", "=1", "a variable without a name" },
	{ "FROM_SPEC=1", "GPUHELPER_GPUS=all", "a variable of gpuhelper's" },
	{ "FROM_SPEC=1", "A=\xff", "a variable that is not UTF-8" }, { "FROM_SPEC=1\"", "A=1\",2", "a variable that is no text" },
	{ "a note", "\xff", "a note that is not UTF-8" }, { "a note", "", "an empty note" },
	{ "[\"a note\"]", "\"a note\"", "notes that are no list" }, { "[\"a note\"]", "[1]", "a note that is no text" },
	{ "\"a note\"", "\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\",\"12\",\"13\"", "too many notes" },
	{ "/proc/driver/nvidia/gpus/", "/proc/", "a masked path that is no GPU's" },
	{ "/proc/driver/nvidia/gpus/", "/etc/", "a masked path outside of /proc" },
	{ "/proc/driver/nvidia/gpus/0000:af:00.0", "/proc/driver/nvidia", "all GPUs masked" },
	{ "/proc/driver/nvidia/gpus/0000:af:00.0", "/proc/driver/nvidia/../../sys", "a masked path that is not clean" },
	{ "\"maskedPaths\"", "\"masked\"", "no masked paths" }, { "\"hooks\"", "\"hook\"", "no hooks" },
	{ "\"mounts\"", "\"mount\"", "no mounts" }, { "\"notes\"", "\"env\"", "variables twice" },
	{ "[\"a note\"]}", "[\"a note\"]}x", "something after the end" }, { "}\n", "}x\n", "something after the files" },
	{ "\"env\":[\"FROM", "\"environment\":[\"FROM", "no variables" },
};

/* The text with the first «from» replaced; NULL: it has none. */
static char *
changed(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	autobuf struct buf b = { 0 };

	if (at == NULL)
		return NULL;
	buf_add(&b, text, (size_t)(at - text));
	buf_puts(&b, to);
	buf_puts(&b, at + strlen(from));
	return buf_take(&b);
}

static void
test_lies(void)
{
	autofree char *text = sample();
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		autofree char *evil = changed(text, lies[i].from, lies[i].to);
		autocontaineredits struct edits e = { 0 };
		struct why why = { 0 };

		ok(evil != NULL && decode(evil, &e, &why) == -1 && (why.code == WHY_BUG || why.code == WHY_DATA) &&
		    strstr(why.text, "gpuhelper-engine") != NULL, "refused: %s", lies[i].what);
	}
}

static bool
survives(struct edits *e)
{
	autofree char *text = encode(e);
	struct edits back;
	struct why why;
	const bool taken = decode(text, &back, &why) == 0;

	edits_free(&back);
	return taken;
}

static void
add_masked(struct edits *e)
{
	add_text(&e->masked, "/proc/driver/nvidia/gpus/0000:af:00.0");
}

static void
add_variable(struct edits *e)
{
	add_text(&e->env, "A=1");
}

static void
add_argument(struct edits *e)
{
	add_text(&e->hook[0].args, "x");
}

static void
add_hook_variable(struct edits *e)
{
	add_text(&e->hook[0].env, "x");
}

static void
add_mount(struct edits *e)
{
	(void)edits_add_mount(e, "/opt/driver/libcuda.so", "/usr/lib/libcuda.so", ro);
}

/* More than these would make a wrapper compare for minutes. */
static void
test_longest(void)
{
	static const struct {
		const char *what;
		void (*add)(struct edits *e);
		size_t most;
	} t[] = { { "mounts", add_mount, DRIVER_MOUNTS_MAX }, { "hooks", add_hook, DRIVER_HOOKS_MAX },
		{ "variables", add_variable, DRIVER_WORDS_MAX }, { "masked paths", add_masked, DRIVER_MASKED_MAX },
		{ "a hook's arguments", add_argument, DRIVER_WORDS_MAX }, { "a hook's variables", add_hook_variable,
		DRIVER_WORDS_MAX } };
	struct edits e;
	bool whole;
	size_t i, k;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		make(&e);
		for (k = 1; k < t[i].most; k++)
			t[i].add(&e);
		whole = survives(&e);
		t[i].add(&e);
		ok(whole && !survives(&e), "%s: %zu are accepted, and no more", t[i].what, t[i].most);
		edits_free(&e);
	}
}

/* A grant with a folder and a variable, to which the text is to be added. */
static void
make_grant(struct edits *e, const char *text)
{
	const size_t n = strcspn(text, "\n");

	*e = (struct edits){ .driver = { .files = strndup(text, n), .process = strdup(text[n] != '\0' ? text + n + 1 : "{}") } };
	(void)edits_add_mount(e, "/srv/data", "/usr/share/data", ro);
	e->mount[0].fs_path = strdup("8:1 /srv/data");
	add_text(&e->env, "FROM_POLICY=1");
	add_text(&e->driver.mounted, "/opt/driver/libcuda.so");
	add_text(&e->driver.run, "/opt/driver/hook");
}

static const struct settings usual = { .driver_files = DRIVER_FILES_AUTO };

static void
test_taken(void)
{
	autofree char *text = sample(), *same = changed(text, "FROM_SPEC=1", "FROM_POLICY=2");
	autocontaineredits struct edits e = { 0 }, twice = { 0 }, none = { 0 };
	struct why why = { 0 };

	make_grant(&e, text);
	ok(take_driver_edits(&e, &usual, &why) == 0 && e.mounts == 2 && e.hooks == 1 && e.masked.n == 1 && e.notes.n == 1,
	    "edits are added to a grant %s", why.text);
	ok(e.mount[0].driver && !e.mount[1].driver && strcmp(e.mount[1].source, "/srv/data") == 0, "  mounts by their depth");
	ok(e.env.n == 2 && strcmp(e.env.v[0], "FROM_POLICY=1") == 0 && strcmp(e.env.v[1], "FROM_SPEC=1") == 0,
	    "  variables after those of the policy");
	make_grant(&twice, same);
	ok(take_driver_edits(&twice, &usual, &why) == 0 && twice.env.n == 1 && strcmp(twice.env.v[0], "FROM_POLICY=1") == 0,
	    "  which they do not override");
	(void)edits_add_mount(&none, "/srv/b", "/b/b", ro);
	(void)edits_add_mount(&none, "/srv/a", "/b", ro);
	ok(take_driver_edits(&none, &usual, &why) == 0 && strcmp(none.mount[0].target, "/b") == 0,
	    "a grant without them has its mounts in order, too");
}

static void
refuse_grant(struct edits *e, const struct settings *s, const char *says, const char *what)
{
	struct why why = { 0 };

	ok(take_driver_edits(e, s, &why) == -1 && strstr(why.text, says) != NULL, "refused: %s: %s", what, why.text);
	edits_free(e);
}

static void
test_taken_not(void)
{
	static const char *const targets[] = { "/usr/share/data", "/usr/share/data/x", "/usr/share", "/usr" };
	static const struct lie untold[] = { { "/opt/driver/libcuda.so", "/etc/shadow", "a file" },
		{ "/opt/driver/hook", "/bin/sh", "a hook" } };
	const struct settings no = { .driver_files = DRIVER_FILES_NONE };
	const struct settings bound = { .driver_files = DRIVER_FILES_NONE, .respect_allocation = true };
	autofree char *text = sample(), *numbers = changed(text, "FROM_SPEC=1", "CUDA_VISIBLE_DEVICES=0,1");
	struct why why = { 0 };
	struct edits e;
	size_t i;

	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		autofree char *evil = changed(text, "/usr/lib/libcuda.so", targets[i]);

		make_grant(&e, evil);
		refuse_grant(&e, &usual, "where folder /srv/data is", targets[i]);
	}
	for (i = 0; i < sizeof(untold) / sizeof(untold[0]); i++) {
		autofree char *evil = changed(text, untold[i].from, untold[i].to);

		make_grant(&e, evil);
		refuse_grant(&e, &usual, "of which gpuhelper has not heard", untold[i].what);
	}
	make_grant(&e, text);
	strlist_free(&e.driver.mounted);
	refuse_grant(&e, &usual, "has not heard", "a file where the helper heard of none");
	make_grant(&e, text);
	strlist_free(&e.driver.run);
	refuse_grant(&e, &usual, "has not heard", "a hook where the helper heard of none");
	make_grant(&e, text);
	add_text(&e.driver.mounted, "/opt/x");
	refuse_grant(&e, &usual, "has not heard", "a file less than the helper heard of");
	make_grant(&e, text);
	refuse_grant(&e, &no, "variables that gpuhelper.conf does not allow", "a variable without driver files");
	make_grant(&e, numbers);
	refuse_grant(&e, &no, "variables that gpuhelper.conf does not allow", "numbers of GPUs without a workload manager");
	make_grant(&e, numbers);
	ok(take_driver_edits(&e, &bound, &why) == 0, "accepted with one: %s", why.text);
	edits_free(&e);
	make_grant(&e, "{}");
	refuse_grant(&e, &usual, "malformed", "an empty object");
}

/* Each byte is changed to some others: the text is refused, or is written back unchanged in meaning. */
static void
test_flipped(void)
{
	autofree char *text = sample(), *evil = strdup(text);
	const size_t len = strlen(text);
	size_t i, taken = 0, same = 0;
	struct why why;

	for (i = 0; i < 40 * len; i++) {
		autocontaineredits struct edits e = { 0 }, again = { 0 };

		memcpy(evil, text, len + 1);
		evil[i % len] = (char)(1 + rnd(255));
		if (decode(evil, &e, &why) == 0) {
			autofree char *one = encode(&e);

			taken++;
			same += one != NULL && decode(one, &again, &why) == 0;
		}
	}
	ok(taken > 100 && same == taken, "of %zu texts with a changed byte, %zu are accepted, and again when they are written",
	    40 * len, taken);
}

#if !defined(__SANITIZE_ADDRESS__)
static char *whole;

/* The sample, read and written again; NULL if memory is short. */
static char *
read_sample(void)
{
	autocontaineredits struct edits e = { 0 };
	struct why why;

	return decode(whole, &e, &why) == 0 ? encode(&e) : NULL;
}

static void
test_memory(void)
{
	if (ok((whole = sample()) != NULL, "there is a sample"))
		starve("edits are read", read_sample);
	free(whole);
}
#else
static void
test_memory(void)
{
	skip("when memory runs out", "a sanitizer has its own allocator");
}
#endif

int
main(void)
{
	test_there_and_back();
	test_lies();
	test_longest();
	test_taken();
	test_taken_not();
	test_flipped();
	test_memory();
	return done_testing();
}
