/*
 * ask/pathsquery.c: the helper's questions about paths, and gpuhelper-look's answers, are read back as they were
 * written. ask/pathscheck.c: what was not sought is refused, and of an answer that is right the edits and the lease get
 * all.
 */
#include "ask/pathsquery.h"
#include "look/lookquestion.h"
#include "look/paths.h"
#include "tap.h"

static char data[] = "/srv/data", to_data[] = "/data", out[] = "/srv/out/*", to_out[] = "/out", deep[] = "/srv/deep",
    below[] = "/srv/deep/a b", to_below[] = "/deep/a b", held[] = "/srv/w", policy_a[] = "10-a.conf", policy_b[] = "20-b.conf",
    fault[] = "line 3";
static struct folder_query sought[] = {
	{ .path = data, .target = to_data, .submounts = true, .relabel = RELABEL_SHARED },
	{ .path = out, .target = to_out, .writable = true },
	{ .path = below, .target = to_below, .base = deep },
};
static struct folder_rule writes[] = { { .path = held, .writable = true } };
static struct policy_entry writers[] = {
	{ .policy = { .name = policy_a, .folder = writes, .folders = 1 } },
	{ .policy = { .name = policy_b }, .broken = fault },
};

static char scope[] = "system.slice:docker:a b", id[] = "a";

static struct paths_query
full(void)
{
	struct paths_query a = { .uid = 7, .gid = 8, .group = { 9, 10 }, .groups = 2, .dac_override = true,
		.uids = { .v = { { 0, 100000, 65536 }, { 65536, 5, 1 } }, .n = 2 }, .gids = { .identity = true },
		.folder = sought, .folders = 3, .writers = { .v = writers, .n = 2 }, .cgroups = { 4711, scope, id, true, true } };

	(void)(strlist_add(&a.file, "/usr/lib/libcuda.so.1", SIZE_MAX) && strlist_add(&a.file, "/usr/bin/hook", SIZE_MAX));
	return a;
}

static bool
unpacks(const char *bytes, size_t len, struct paths_query *into)
{
	struct look_query a;

	return look_query_is_of_paths(bytes, len) && look_paths_unpack(bytes, len, &a, into);
}

static bool
is_read(const char *bytes, size_t len)
{
	struct paths_query a = { .folders = 0 };
	const bool is = unpacks(bytes, len, &a);

	paths_query_free(&a);
	return is;
}

static void
test_question(void)
{
	struct paths_query a = full(), b = { .folders = 0 };
	struct lease none = { .nodes = 0 };
	size_t len, i, taken = 0;
	struct buf text = { 0 };
	struct lines w = { .out = &text };
	char *bytes, *copy;

	paths_query_lines(&w, &a);
	ok(lines_finish(&w), "a question is written");
	bytes = look_paths_pack(&(struct look_query){ .kind = LOOK_PATHS, .nonce = 5 }, &text, &len);
	free(text.p);
	ok(bytes != NULL && unpacks(bytes, len, &b), "a question about paths is packed and unpacked");
	ok(b.uid == 7 && b.gid == 8 && b.groups == 2 && b.group[1] == 10 && b.dac_override, "the process is the same");
	ok(b.uids.n == 2 && !b.uids.identity && b.uids.v[1].outside == 5 && b.gids.identity && b.gids.n == 0,
	    "the id maps are the same");
	ok(b.folders == 3 && strcmp(b.folder[2].base, "/srv/deep") == 0 && b.folder[0].base == NULL && b.folder[1].writable &&
	    b.folder[0].submounts && b.folder[0].relabel == RELABEL_SHARED, "the folders are the same");
	ok(b.writers.n == 2 && strcmp(b.writers.v[0].policy.folder[0].path, "/srv/w") == 0 &&
	    strcmp(b.writers.v[1].broken, "line 3") == 0, "the policies are the same");
	ok(b.cgroups.asker == 4711 && strcmp(b.cgroups.path, scope) == 0 && strcmp(b.cgroups.id, id) == 0 && b.cgroups.rootful &&
	    b.cgroups.by_systemd, "what the cgroups are made from is the same");
	ok(b.file.n == 2 && strcmp(b.file.v[1], "/usr/bin/hook") == 0, "the files are the same");
	for (i = 0; i < len && (copy = malloc(i + 1)) != NULL; i++) {
		memcpy(copy, bytes, i);
		taken += is_read(copy, i);
		free(copy);
	}
	is_int(taken, 0, "no truncated question is accepted");
	for (i = 0; i < len; i++) {
		bytes[i] = (char)(bytes[i] ^ 0xff);
		(void)is_read(bytes, len);
		bytes[i] = (char)(bytes[i] ^ 0xff);
	}
	free(bytes);
	bytes = look_query_pack(&(struct look_query){ .kind = LOOK_IN_USE }, &none, &len);
	ok(!look_query_is_of_paths(bytes, len), "a question about a lease is none about paths");
	free(bytes);
	paths_query_free(&b);
	strlist_free(&a.file);
}

/* An answer with one path. at: up to two file system paths. */
static struct paths_answer
one(uint32_t of, const char *path, const char *first, const char *second)
{
	struct paths_answer a = { .n = 0 };
	struct strlist at = { 0 };

	if ((first != NULL && !strlist_add(&at, first, SIZE_MAX)) || (second != NULL && !strlist_add(&at, second, SIZE_MAX)) ||
	    !paths_answer_add(&a, of, strdup(path), &at))
		ok(false, "memory is short");
	return a;
}

static int
gives(const struct paths_query *asked, struct paths_answer *a, struct edits *e, struct lease *l, struct why *why)
{
	const int ret = paths_answer_give(asked, a, e, l, why);

	paths_answer_free(a);
	return ret;
}

static void
refuses(const struct paths_query *asked, uint32_t of, const char *path, const char *at, const char *what)
{
	struct paths_answer a = one(of, path, at, NULL);
	struct edits e = { 0 };
	struct lease l = { .lookups = 0 };
	struct why why = { 0 };

	ok(gives(asked, &a, &e, &l, &why) == -1 && why.code == WHY_BUG && strstr(why.text, "gpuhelper-look") != NULL,
	    "refused: %s: %s", what, why.text);
	is_int(e.mounts, 0, "and nothing is mounted");
	edits_free(&e);
	lease_free(&l);
}

static void
test_lies(void)
{
	const struct paths_query asked = { .folder = sought, .folders = 3 };
	struct paths_query files = { .folders = 0 };
	static const struct {
		uint32_t of;
		const char *path, *at, *what;
	} t[] = {
		{ 3, "/srv/data", "8:1 /d", "a folder that nobody sought" },
		{ UINT32_MAX, "/srv/data", "8:1 /d", "one far from there" },
		{ 0, "/etc", "8:1 /d", "another folder" },
		{ 0, "/srv/data/x", "8:1 /d", "a folder beneath" },
		{ 0, "/srv/../etc", "8:1 /d", "a path with .." },
		{ 1, "/srv/out/a/b", "8:1 /d", "a folder deeper than the pattern" },
		{ 1, "/srv/out/.ssh", "8:1 /d", "a hidden folder" },
		{ 1, "/srv/other/a", "8:1 /d", "a folder beside the pattern's" },
		{ 1, "/srv/out/..", "8:1 /d", "the folder above" },
		{ 0, "/srv/data", NULL, "no file system path" },
		{ 0, "/srv/data", "8:1", "a file system without a path" },
		{ 0, "/srv/data", "8:1 /\xff", "a file system path that is not UTF-8" },
		{ 1, "/srv/out/\xff", "8:1 /d", "a path that is not UTF-8" },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		refuses(&asked, t[i].of, t[i].path, t[i].at, t[i].what);
	ok(strlist_add(&files.file, "/usr/lib/libcuda.so.1", SIZE_MAX), "a file is sought");
	refuses(&files, 0, "/etc/shadow", "8:1 /d", "another file");
	refuses(&files, 1, "/usr/lib/libcuda.so.1", "8:1 /d", "a file that nobody sought");
	ok(strlist_add(&files.file, "/usr/lib/other/libcuda.so.1", SIZE_MAX), "a file elsewhere is sought, too");
	refuses(&files, 0, "/usr/lib/libcuda.so.1", "8:1 /d", "one of two directories alone");
	strlist_free(&files.file);
}

static void
test_long(void)
{
	const struct paths_query asked = { .folder = sought, .folders = 3 };
	struct paths_answer a = { .n = 0 };
	struct strlist at = { 0 };
	struct edits e = { 0 };
	struct lease l = { .lookups = 0 };
	struct why why;
	char text[8192] = "8:1 ";
	size_t i;

	for (i = 4; i < sizeof(text) - 1; i++)
		text[i] = i % 2 == 0 ? '/' : 'a';
	refuses(&asked, 0, "/srv/data", text, "a file system path that no path has");
	for (i = 0; i < 600; i++)
		(void)strlist_add(&at, "8:1 /d", SIZE_MAX);
	ok(paths_answer_add(&a, 0, strdup("/srv/data"), &at), "one with 600 directories on its way is made");
	is_int(gives(&asked, &a, &e, &l, &why), -1, "and refused");
	edits_free(&e);
	lease_free(&l);
}

static void
test_truth(void)
{
	const struct paths_query asked = { .folder = sought, .folders = 3 };
	struct paths_query files = { .folders = 0 };
	struct paths_answer a = one(1, "/srv/out/x", "8:1 /o/x", "8:1 /o"), b = one(0, "/srv/data", "0:44 /", NULL), c;
	struct edits e = { 0 };
	struct lease l = { .lookups = 0 };
	struct why why = { 0 };

	is_int(gives(&asked, &a, &e, &l, &why), 0, "a folder that matches is given");
	is_int(gives(&asked, &b, &e, &l, &why), 0, "and one that was named");
	ok(e.mounts == 2 && strcmp(e.mount[0].source, "/srv/out/x") == 0 && strcmp(e.mount[0].target, "/out/x") == 0 &&
	    strlist_has(&e.mount[0].options, "rw") && strlist_has(&e.mount[0].options, "bind") &&
	    strcmp(e.mount[0].fs_path, "8:1 /o/x") == 0, "the pattern's is mounted for writing, beneath its target");
	ok(strcmp(e.mount[1].target, "/data") == 0 && strlist_has(&e.mount[1].options, "ro") &&
	    strlist_has(&e.mount[1].options, "rbind") && e.mount[1].relabel == RELABEL_SHARED, "the other one as its rule says");
	ok(l.lookups == 2 && l.lookup[0].writable && l.lookup[0].at.n == 2 && !l.lookup[1].writable &&
	    strcmp(l.lookup[1].path, "/srv/data") == 0, "the lease has both lookup paths");
	ok(strlist_add(&files.file, "/usr/lib/libcuda.so.1", SIZE_MAX), "a file is sought");
	c = one(0, "/usr/lib/libcuda.so.1", "8:1 /usr/lib", "8:1 /usr/lib");
	is_int(gives(&files, &c, &e, &l, &why), 0, "a file is given");
	ok(e.mounts == 2 && l.lookups == 3 && !l.lookup[2].writable, "which is a lookup path alone");
	strlist_free(&files.file);
	edits_free(&e);
	lease_free(&l);
}

static void
test_faults(void)
{
	static const enum why_code codes[] = { [FILE_FAULT_UNSURE] = WHY_CONFIG, [FILE_FAULT_CLOSED] = WHY_CONFIG,
		[FILE_FAULT_UNSEEN] = WHY_IO, [FILE_FAULT_MEMORY] = WHY_BUG };
	struct paths_query files = { .folders = 0 };
	struct paths_answer a = { .n = 0 };
	struct edits e = { 0 };
	struct lease l = { .lookups = 0 };
	struct why why;

	ok(strlist_add(&files.file, "/a/b", SIZE_MAX) && strlist_add(&files.file, "/c/d", SIZE_MAX), "two files are sought");
	for (a.fault = FILE_FAULT_UNSURE; a.fault <= FILE_FAULT_MEMORY; a.fault++) {
		a.at_fault = 1;
		ok(paths_answer_give(&files, &a, &e, &l, &why) == -1 && why.code == codes[a.fault] &&
		    (a.fault == FILE_FAULT_MEMORY || strstr(why.text, "/c/d") != NULL), "a fault has words: %s", why.text);
		a.at_fault = 2;
		is_int(paths_answer_give(&files, &a, &e, &l, &why), -1, "also that of no file: %s", why.text);
	}
	strlist_free(&files.file);
}

static int
gives_cgroup(const char *dir, size_t times, struct lease *l)
{
	const struct paths_query asked = { .cgroups = { .asker = 7 } };
	struct paths_answer a = { .n = 0 };
	struct edits e = { 0 };
	struct why why = { 0 };
	size_t i;

	for (i = 0; i < times; i++)
		if (!strlist_add(&a.cgroup, dir, SIZE_MAX))
			return -1;
	return gives(&asked, &a, &e, l, &why) == 0 ? 0 : why.code == WHY_BUG ? -1 : -2;
}

static void
test_cgroups(void)
{
	static const char *const lies[] = { "", "/a", "..", "a/../../etc", "a//b", "a/", "a\nb", "a/.", "a\xff" };
	struct lease l = { .lookups = 0 };
	size_t i;

	is_int(gives_cgroup("devices/garden/x", 1, &l), 0, "a cgroup is taken");
	ok(l.container.cgroups.n == 1 && strcmp(l.container.cgroups.v[0], "devices/garden/x") == 0, "and is the lease's");
	is_int(gives_cgroup("a", 2, &l), 0, "another answer's cgroups");
	is_int((long long)l.container.cgroups.n, 2, "replace it");
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		is_int(gives_cgroup(lies[i], 1, &l), -1, "refused: no cgroup can be «%s»", lies[i]);
	is_int(gives_cgroup("a", 128, &l), 0, "as many as may be");
	is_int(gives_cgroup("a", 129, &l), -1, "refused: one more");
	is_int((long long)l.container.cgroups.n, 128, "what is refused changes no lease");
	lease_free(&l);
}

static void
test_answer(void)
{
	struct paths_answer a = one(2, "/srv/deep/a b", "8:1 /deep/a b", NULL), b = { .n = 0 }, no = { .n = 0 };
	struct buf text = { 0 };
	struct lines w = { .out = &text }, r;

	ok(strlist_add(&a.cgroup, "unified/a b", SIZE_MAX), "with a cgroup");
	paths_answer_lines(&w, &a);
	ok(lines_finish(&w), "an answer is written");
	r = (struct lines){ .at = text.p, .end = text.p + text.len };
	paths_answer_lines(&r, &b);
	ok(lines_finish(&r) && b.n == 1 && b.found[0].of == 2 && strcmp(b.found[0].at.v[0], "8:1 /deep/a b") == 0 &&
	    b.cgroup.n == 1 && strcmp(b.cgroup.v[0], "unified/a b") == 0, "and read back");
	paths_answer_free(&b);
	paths_answer_free(&a);
	text.len = 0;
	w = (struct lines){ .out = &text };
	refuse(&no.why, WHY_ABSENT, "folder /x: gone");
	paths_answer_lines(&w, &no);
	ok(lines_finish(&w), "a refusal is written");
	r = (struct lines){ .at = text.p, .end = text.p + text.len };
	paths_answer_lines(&r, &b);
	ok(lines_finish(&r) && b.why.code == WHY_ABSENT && strcmp(b.why.text, "folder /x: gone") == 0, "and read back");
	paths_answer_free(&b);
	free(text.p);
}

int
main(void)
{
	test_question();
	test_lies();
	test_long();
	test_truth();
	test_faults();
	test_cgroups();
	test_answer();
	return done_testing();
}
