/*
 * ask/lookquery.c, look/lookquestion.c: the helper's questions to gpuhelper-look are read back as they were written,
 * and its answers, too. Other bytes are refused.
 */
#include <limits.h>

#include "look/lookquestion.h"
#include "tap.h"

static struct edit_node node[] = {
	{ .path = "/dev/nvidia0", .major = 195, .minor = 0, .mode = 0600 },
	{ .path = "/dev/nvidia1", .major = 195, .minor = 1, .mode = 0666 },
};
/* nothing follows the answer */
static const struct look_more nothing;
static struct idspan user[] = { { 1000, 1 }, { 100000, 65536 } };

static void
fill(struct lease *l)
{
	struct leased_folder f = { .path = strdup("/srv/a"), .fs = strdup("8:1"), .fs_path = strdup("/a") };
	struct lookup w = { .writable = true }, bare = { .writable = false };

	*l = (struct lease){ .boot = "b0", .asker = { 7, 70 }, .container.init = { 8, 80 }, .container.mnt_ns = 9, .container.pid_ns = UINT64_MAX,
		.node = node, .nodes = 2, .container.user = user, .container.users = 2,
		.tasks = { .program = { 8, 1, 77 }, .task = { 9, 90 } } };
	ok(strlist_add(&l->container.cgroups, "devices/x", SIZE_MAX) && strlist_add(&l->container.cgroups, "", SIZE_MAX) && lease_add_folder(l, &f) &&
	    strlist_add(&w.at, "8:1 /a b", SIZE_MAX) && lease_add_lookup(l, &w) &&
	    lease_add_lookup(l, &bare),
	    "a lease is made");
}

static void
is_same(const struct lease *l)
{
	is_str(l->boot, "b0", "the boot id is the same");
	ok(l->asker.pid == 7 && l->asker.start == 70 && l->container.init.pid == 8 && l->container.init.start == 80,
	    "the processes are the same");
	ok(l->container.mnt_ns == 9 && l->container.pid_ns == UINT64_MAX && l->tasks.program.inode == 77,
	    "the namespaces and the program are the same");
	ok(l->nodes == 2 && memcmp(l->node, node, sizeof(node)) == 0, "the nodes are the same");
	ok(l->container.users == 2 && memcmp(l->container.user, user, sizeof(user)) == 0, "the users are the same");
	ok(l->tasks.task.pid == 9 && l->tasks.task.start == 90, "the task is the same");
	ok(l->container.cgroups.n == 2 && strcmp(l->container.cgroups.v[0], "devices/x") == 0 &&
	    l->container.cgroups.v[1][0] == '\0',
	    "the cgroups are the same");
}

static bool
unpacks(const char *bytes, size_t len)
{
	struct look_query a;
	struct lease l;
	const bool good = look_query_unpack(bytes, len, &a, &l);

	lease_free(&l);
	return good;
}

/*
 * Truncates at each byte, and changes each byte: the bytes are refused or read, and nothing beyond
 * the end is read.
 */
static void
spoil(char *bytes, size_t len)
{
	size_t i, taken = 0;
	char *copy;

	for (i = 0; i < len; i++) {
		if ((copy = malloc(i + 1)) == NULL)
			return;
		memcpy(copy, bytes, i);
		taken += unpacks(copy, i);
		free(copy);
	}
	is_int(taken, 0, "no truncated question is accepted");
	for (i = 0; i < len; i++) {
		bytes[i] = (char)(bytes[i] ^ 0xff);
		(void)unpacks(bytes, len);
		bytes[i] = (char)(bytes[i] ^ 0xff);
	}
	ok(unpacks(bytes, len),
	    "each inverted byte is survived, and the original is accepted afterwards");
}

/* What each kind of question contains: a lease may have a thousand members of each kind. */
static void
test_kinds(const struct lease *l)
{
	static const struct {
		enum look_kind kind;
		size_t folders, lookups;
	} t[] = {
		{ LOOK_BOOT, 0, 0 }, { LOOK_IN_USE, 1, 0 }, { LOOK_ROOTLESS_USE, 1, 0 }, { LOOK_LEAKED, 0, 2 },
		    { LOOK_ACTIVITY, 0, 0 },
		{ LOOK_OPENERS, 0, 0 },
	};
	struct lease alone = *l, m;
	struct look_query b;
	char *bytes;
	size_t i, len;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		bytes = look_query_pack(&(struct look_query){ .kind = t[i].kind }, l, &len);
		ok(bytes != NULL && look_query_unpack(bytes, len, &b, &m) && b.kind == t[i].kind && m.folders == t[i].folders &&
		    m.lookups == t[i].lookups && m.container.cgroups.n == 2,
		    "the question has %zu folders and %zu lookup paths", t[i].folders, t[i].lookups);
		if (m.folders > 0)
			ok(strcmp(m.folder[0].fs, "8:1") == 0 &&
			    strcmp(m.folder[0].fs_path, "/a") == 0,
			    "the folder is the same");
		if (m.lookups > 0) {
			ok(m.lookup[0].writable && strcmp(m.lookup[0].at.v[0], "8:1 /a b") == 0,
			    "a writable lookup path is the same");
			ok(!m.lookup[1].writable && m.lookup[1].at.n == 0,
			    "a read-only one without a file system path is the same");
			free(bytes);
			bytes = look_query_pack(&(struct look_query){ .kind = t[i].kind }, l, &len);
			spoil(bytes, len);
		}
		free(bytes);
		lease_free(&m);
	}
	alone.container.users = 0;
	bytes = look_query_pack(&(struct look_query){ .kind = LOOK_IN_USE }, &alone, &len);
	ok(bytes != NULL && look_query_unpack(bytes, len, &b, &m) && m.folders == 0,
	    "a question about a lease without users has no folders");
	free(bytes);
	lease_free(&m);
}

/* The answer to *a, with this one value changed by «set». */
static void
is_refused(const struct look_query *a, void (*set)(struct look_answer *), const char *what)
{
	struct look_answer said = look_answer_begin(a->nonce), got;
	struct why why = { 0 };

	said.until = a->until;
	set(&said);
	is_int(look_answer_read((const char *)&said, sizeof(said), a, &nothing, &got, &why), -1, "refused: %s", what);
	ok(why.code == WHY_BUG || why.code == WHY_CONFIG, "and the refusal has a code: %s", why.text);
}

static void set_nonce(struct look_answer *r) { r->nonce++; }
static void set_version(struct look_answer *r) { r->head.version[0] = 'x'; }
static void set_form(struct look_answer *r) { r->head.form++; }
static void set_yes(struct look_answer *r) { r->yes = 2; }
static void set_boot(struct look_answer *r) { r->of_another_boot = 256; }
static void set_left(struct look_answer *r) { r->left = 5; }
static void set_dirs(struct look_answer *r) { r->dirs = 10; }
static void set_until(struct look_answer *r) { r->until++; }
static void set_activity(struct look_answer *r) { r->seen = 16; }
static void set_process(struct look_answer *r) { r->seen = (1 << 22) + 1; }
static void set_incomplete(struct look_answer *r) { r->incomplete.kind = INCOMPLETE_ENDED + 1; }
static void set_incomplete_only(struct look_answer *r) { r->incomplete.kind = INCOMPLETE_SLOW; }
static void set_pid(struct look_answer *r) { r->incomplete = (struct look_incomplete){ INCOMPLETE_SLOW, -1 }; }
static void set_large_pid(struct look_answer *r) { r->incomplete = (struct look_incomplete){ INCOMPLETE_SLOW, INT32_MAX }; }

static int
reads_openers(const struct look_query *a, pid_t pid, size_t bytes, size_t n)
{
	struct {
		struct look_answer r;
		pid_t opener[2];
	} said = { look_answer_begin(a->nonce), { 7, pid } };
	struct look_answer got;
	pid_t opener[2];
	struct why why;

	said.r.until = a->until;
	return look_answer_read((const char *)&said, bytes, a, &(struct look_more){ .opener = opener, .openers = n },
	    &got, &why);
}

static void
test_answers(const struct look_query *a)
{
	static const struct {
		void (*set)(struct look_answer *);
		const char *what;
	} t[] = {
		{ set_nonce, "another nonce" }, { set_version, "another version" }, { set_form, "another form" },
		{ set_yes, "neither yes nor no" }, { set_boot, "a boot that is neither" }, { set_left, "more looks left" },
		{ set_dirs, "more directories left" }, { set_until, "more time left" }, { set_activity, "an unknown sight" },
		{ set_incomplete, "an unknown doubt" }, { set_incomplete_only, "a doubt about no process" }, { set_pid, "a negative pid" },
		{ set_large_pid, "a pid that no kernel gives" },
	};
	struct look_answer said = look_answer_begin(a->nonce), got;
	const size_t all = sizeof(said) + 2 * sizeof(pid_t);
	struct look_query waiter = *a;
	struct why why;
	size_t i;

	waiter.kind = LOOK_WAITER;
	said.until = a->until;
	is_int(look_answer_read((const char *)&said, sizeof(said), a, &nothing, &got, &why), 0, "an answer is read");
	for (i = 0; i < sizeof(said); i++)
		if (look_answer_read((const char *)&said, i, a, &nothing, &got, &why) == 0)
			break;
	is_int(i, sizeof(said), "a shorter one is not");
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		is_refused(a, t[i].set, t[i].what);
	is_refused(&waiter, set_process, "a process that no kernel gives");
	said.seen = 1 << 22;
	is_int(look_answer_read((const char *)&said, sizeof(said), &waiter, &nothing, &got, &why), 0, "any other process is read");
	said.seen = 0;
	is_int(reads_openers(a, -8, all, 2), 0, "an answer with holders is read");
	is_int(reads_openers(a, -8, all, 1), -1, "but not with one too many");
	is_int(reads_openers(a, -8, all - 1, 2), -1, "nor with a part of one");
	is_int(reads_openers(a, INT_MIN, all, 2), -1, "nor with a number that has no opposite");
	is_int(reads_openers(a, INT_MAX, all, 2), -1, "nor with one that no process has");
	said = look_answer_begin(0);
	said.yes = 7;
	is_int(look_answer_read((const char *)&said, sizeof(said), a, &nothing, &got, &why) == 0 && got.nonce == 0, 1,
	    "an answer to no question is read as that");
	for (i = 0; i < 16; i++) {
		const struct activity s = activity_unpack((uint32_t)i);

		is_int(activity_pack(&s), i, "a sight is the same after its way");
	}
	for (i = 1; i <= INCOMPLETE_ENDED; i++) {
		why = (struct why){ 0 };
		ok(incomplete_tell(&(struct look_incomplete){ (uint32_t)i, 12 }, &why) == -1 && why.code != WHY_NONE && why.text[0] != '\0',
		    "each doubt has words: %s", why.text);
	}
}

int
main(void)
{
	const struct look_query a = { .nonce = 5, .kind = LOOK_IN_USE, .anew = 1, .timeout = 300, .left = 4,
		.until = 77, .dirs = 9 };
	struct look_query b;
	struct lease l, m;
	size_t len;
	char *bytes;

	fill(&l);
	bytes = look_query_pack(&a, &l, &len);
	ok(bytes != NULL && look_query_unpack(bytes, len, &b, &m),
	    "a question is packed and unpacked");
	ok(b.nonce == 5 && b.kind == LOOK_IN_USE && b.anew == 1 && b.timeout == 300 && b.left == 4 &&
	    b.until == 77 && b.dirs == 9,
	    "the question's members are the same");
	is_same(&m);
	lease_free(&m);
	spoil(bytes, len);
	free(bytes);
	test_kinds(&l);
	test_answers(&a);
	bytes = look_query_pack(&a, &(struct lease){ .nodes = 0 }, &len);
	ok(bytes != NULL && unpacks(bytes, len),
	    "a question about a lease that holds nothing is accepted");
	free(bytes);
	l.node = NULL;
	l.container.user = NULL;
	lease_free(&l);
	return done_testing();
}
