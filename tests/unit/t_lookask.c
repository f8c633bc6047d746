/*
 * pure/lookask.c: the helper's questions to its looker are read back as they were written. Other
 * bytes are refused.
 */
#include "pure/lookask.h"
#include "tap.h"

static struct edit_node node[] = {
	{ .path = "/dev/nvidia0", .major = 195, .minor = 0, .mode = 0600 },
	{ .path = "/dev/nvidia1", .major = 195, .minor = 1, .mode = 0666 },
};
static struct idspan user[] = { { 1000, 1 }, { 100000, 65536 } };

static void
fill(struct lease *l)
{
	struct held_folder f = { .path = strdup("/srv/a"), .fs = strdup("8:1"), .place = strdup("/a") };
	struct way w = { .writable = true }, bare = { .writable = false };

	*l = (struct lease){ .boot = "b0", .asker = { 7, 70 }, .init = { 8, 80 }, .mounts = 9, .pids = UINT64_MAX,
		.node = node, .nodes = 2, .user = user, .users = 2,
		.pausing = { .program = { 8, 1, 77 }, .task = { 9, 90 } } };
	ok(strlist_add(&l->cgroups, "devices/x", SIZE_MAX) && strlist_add(&l->cgroups, "", SIZE_MAX) && lease_add_folder(l, &f) &&
	    strlist_add(&w.at, "8:1 /a b", SIZE_MAX) && lease_add_way(l, &w) &&
	    lease_add_way(l, &bare),
	    "a lease is made");
}

static void
is_same(const struct lease *l)
{
	is_str(l->boot, "b0", "the boot id is the same");
	ok(l->asker.pid == 7 && l->asker.start == 70 && l->init.pid == 8 && l->init.start == 80,
	    "the processes are the same");
	ok(l->mounts == 9 && l->pids == UINT64_MAX && l->pausing.program.inode == 77,
	    "the namespaces and the program are the same");
	ok(l->nodes == 2 && memcmp(l->node, node, sizeof(node)) == 0, "the nodes are the same");
	ok(l->users == 2 && memcmp(l->user, user, sizeof(user)) == 0, "the users are the same");
	ok(l->pausing.task.pid == 9 && l->pausing.task.start == 90, "the task is the same");
	ok(l->cgroups.n == 2 && strcmp(l->cgroups.v[0], "devices/x") == 0 &&
	    l->cgroups.v[1][0] == '\0',
	    "the cgroups are the same");
}

static bool
unpacks(const char *bytes, size_t len)
{
	struct look_ask a;
	struct lease l;
	const bool good = look_ask_unpack(bytes, len, &a, &l);

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
		size_t folders, ways;
	} t[] = {
		{ LOOK_BOOT, 0, 0 }, { LOOK_LIFE, 1, 0 }, { LOOK_USE, 1, 0 }, { LOOK_PASSED, 0, 2 }, { LOOK_TASK, 0, 0 },
		{ LOOK_HOLDERS, 0, 0 },
	};
	struct lease alone = *l, m;
	struct look_ask b;
	char *bytes;
	size_t i, len;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		bytes = look_ask_pack(&(struct look_ask){ .kind = t[i].kind }, l, &len);
		ok(bytes != NULL && look_ask_unpack(bytes, len, &b, &m) && b.kind == t[i].kind && m.folders == t[i].folders &&
		    m.ways == t[i].ways && m.cgroups.n == 2,
		    "the question has %zu folders and %zu ways", t[i].folders, t[i].ways);
		if (m.folders > 0)
			ok(strcmp(m.folder[0].fs, "8:1") == 0 &&
			    strcmp(m.folder[0].place, "/a") == 0,
			    "the folder is the same");
		if (m.ways > 0) {
			ok(m.way[0].writable && strcmp(m.way[0].at.v[0], "8:1 /a b") == 0,
			    "a writable way is the same");
			ok(!m.way[1].writable && m.way[1].at.n == 0,
			    "a read-only way without a place is the same");
			free(bytes);
			bytes = look_ask_pack(&(struct look_ask){ .kind = t[i].kind }, l, &len);
			spoil(bytes, len);
		}
		free(bytes);
		lease_free(&m);
	}
	alone.users = 0;
	bytes = look_ask_pack(&(struct look_ask){ .kind = LOOK_LIFE }, &alone, &len);
	ok(bytes != NULL && look_ask_unpack(bytes, len, &b, &m) && m.folders == 0,
	    "a question about a lease without users has no folders");
	free(bytes);
	lease_free(&m);
}

int
main(void)
{
	const struct look_ask a = { .nonce = 5, .kind = LOOK_LIFE, .anew = true, .patience = 300, .left = 4, .until = -1, .dirs = 9 };
	struct look_ask b;
	struct lease l, m;
	size_t len;
	char *bytes;

	fill(&l);
	bytes = look_ask_pack(&a, &l, &len);
	ok(bytes != NULL && look_ask_unpack(bytes, len, &b, &m),
	    "a question is packed and unpacked");
	ok(b.nonce == 5 && b.kind == LOOK_LIFE && b.anew && b.patience == 300 && b.left == 4 &&
	    b.until == -1 && b.dirs == 9,
	    "the question's members are the same");
	is_same(&m);
	lease_free(&m);
	spoil(bytes, len);
	free(bytes);
	test_kinds(&l);
	bytes = look_ask_pack(&a, &(struct lease){ .nodes = 0 }, &len);
	ok(bytes != NULL && unpacks(bytes, len),
	    "a question about a lease that holds nothing is accepted");
	free(bytes);
	l.node = NULL;
	l.user = NULL;
	lease_free(&l);
	return done_testing();
}
