/*
 * lease/leasefile.c: a lease is read back as it was written, and anything else is refused.
 */
#include <stdlib.h>

#include "lease/leasefile.h"
#include "nomem.h"
#include "tap.h"

static void
fill(struct lease *l)
{
	*l = (struct lease){ .uid = 4294967294, .asker = { 123, UINT64_MAX }, .container.init = { 2147483647, 5 }, .since = 1700000000,
		.state = LEASE_RELEASING, .gpus_by_task = true };
	snprintf(l->key, sizeof(l->key), "%064d", 7);
	snprintf(l->boot, sizeof(l->boot), "11111111-2222-3333-4444-555555555555");
	l->id = strdup("c\"1\n");
	l->root = strdup("/run/root");
	l->policy = strdup("10-x.conf");
	l->pipeline = strdup("");
	(void)strlist_add(&l->container.cgroups, "user.slice/x", SIZE_MAX);
	l->gpu = calloc(2, sizeof(*l->gpu));
	l->gpus = 2;
	l->gpu[0] = (struct leased_gpu){ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .part = "3:0", .limit = 4 };
	l->gpu[1] = (struct leased_gpu){ .vendor = GPU_AMD, .pci = "0000:03:00.0", .exclusive = true };
	l->node = calloc(1, sizeof(*l->node));
	l->nodes = 1;
	l->node[0] = (struct edit_node){ .path = "/dev/nvidia0", .major = 195, .minor = 0, .mode = 0660, .uid = 1, .gid = 44 };
	l->container.user = calloc(1, sizeof(*l->container.user));
	l->container.users = 1;
	l->container.user[0] = (struct idspan){ 100000, 65536 };
	snprintf(l->label, sizeof(l->label), "system_u:system_r:nvidia_container_t:s0:c1,c2");
	(void)lease_add_folder(l, &(struct leased_folder){ strdup("/srv/x"), strdup("8:1"), strdup("/@/srv/x"),
		RELABEL_PRIVATE });
	(void)lease_add_folder(l, &(struct leased_folder){ strdup("/srv/y z"), strdup("0:43"), strdup("/"),
		RELABEL_NO });
	l->container.host_root = l->planned = l->container.own_pids = l->container.privileged = l->container.hooked = true;
	l->container.pid_ns = 4026531836;
	l->container.mnt_ns = UINT64_MAX;
	(void)lease_add_lookup(l, &(struct lookup){ .path = strdup("/srv/x"), .writable = true });
	(void)strlist_add(&l->lookup[0].at, "8:1 /@/srv/x", SIZE_MAX);
	l->tasks = (struct lease_tasks){ .program = { 8, 1, UINT64_MAX }, .devcgroup = strdup("devices/garden/x"), .idle = IDLE_STOP,
		.left_behind = LEFT_BEHIND_KEEP, .asked = strdup("nvidia:2"), .task = { 9, UINT64_MAX }, .left_since = 99,
		.changer = { 77, 88 }, .changing_since = 5678, .waited = 38, .uid = 1000, .gid = 6,
		.who = strdup("{\"kind\":\"claim\"}"), .promised_gpu = calloc(1, sizeof(struct leased_gpu)), .promised_gpus = 1,
		.node = calloc(2, sizeof(struct promised_node)), .nodes = 2 };
	l->tasks.promised_gpu[0] = l->gpu[1];
	l->tasks.node[0] = (struct promised_node){ 195, UINT32_MAX, false };
	l->tasks.node[1] = (struct promised_node){ 195, 1, true };
}

static bool
same_tasks(const struct lease_tasks *a, const struct lease_tasks *b)
{
	return file_id_same(&a->program, &b->program) && strcmp(a->devcgroup, b->devcgroup) == 0 && a->idle == b->idle &&
	    a->left_behind == b->left_behind && strcmp(a->asked, b->asked) == 0 && process_id_same(&a->task, &b->task) &&
	    a->left_since == b->left_since &&
	    process_id_same(&a->changer, &b->changer) && a->changing_since == b->changing_since && a->waited == b->waited &&
	    a->uid == b->uid && a->gid == b->gid && strcmp(a->who, b->who) == 0 && a->promised_gpus == 1 && b->promised_gpus == 1 &&
	    leased_gpu_same(&a->promised_gpu[0], &b->promised_gpu[0]) && a->nodes == 2 && b->nodes == 2 &&
	    a->node[0].major == b->node[0].major && a->node[0].minor == b->node[0].minor && !b->node[0].allowed &&
	    b->node[1].allowed;
}

static bool
same_folders(const struct lease *a, const struct lease *b)
{
	size_t i;

	for (i = 0; i < a->folders && i < b->folders; i++)
		if (strcmp(a->folder[i].path, b->folder[i].path) != 0 || strcmp(a->folder[i].fs, b->folder[i].fs) != 0 ||
		    strcmp(a->folder[i].fs_path, b->folder[i].fs_path) != 0 || a->folder[i].relabel != b->folder[i].relabel)
			return false;
	return a->folders == 2 && b->folders == 2;
}

static bool
same(const struct lease *a, const struct lease *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->root, b->root) == 0 &&
	    strcmp(a->policy, b->policy) == 0 && strcmp(a->pipeline, b->pipeline) == 0 && strcmp(a->boot, b->boot) == 0 &&
	    a->uid == b->uid && process_id_same(&a->asker, &b->asker) && process_id_same(&a->container.init, &b->container.init) &&
	    a->asker.pid == 123 && a->asker.start == UINT64_MAX && a->container.init.pid == 2147483647 && a->container.init.start == 5 &&
	    a->since == b->since && a->gpus == b->gpus &&
	    leased_gpu_same(&a->gpu[0], &b->gpu[0]) && a->gpu[0].limit == b->gpu[0].limit &&
	    leased_gpu_same(&a->gpu[1], &b->gpu[1]) && a->gpu[1].exclusive == b->gpu[1].exclusive &&
	    a->nodes == b->nodes && memcmp(a->node, b->node, sizeof(*a->node)) == 0 &&
	    a->container.users == b->container.users && memcmp(a->container.user, b->container.user,
	    sizeof(*a->container.user)) == 0 && a->container.cgroups.n == b->container.cgroups.n &&
	    strcmp(a->container.cgroups.v[0], b->container.cgroups.v[0]) == 0 && a->state == b->state &&
	    a->gpus_by_task == b->gpus_by_task && strcmp(a->label, b->label) == 0 && same_folders(a, b) &&
	    a->container.host_root == b->container.host_root && a->planned == b->planned && a->container.own_pids &&
	    b->container.own_pids && a->container.privileged && b->container.privileged && a->container.hooked &&
	    b->container.hooked && a->container.pid_ns == b->container.pid_ns &&
	    a->container.mnt_ns == b->container.mnt_ns && b->container.pid_ns == 4026531836 &&
	    b->container.mnt_ns == UINT64_MAX && a->lookups == b->lookups &&
	    (a->lookups == 0 || strcmp(a->lookup[0].path, b->lookup[0].path) == 0) && same_tasks(&a->tasks, &b->tasks);
}

static void
test_round_trip(void)
{
	struct lease a, b;
	struct why why;
	char *text;

	fill(&a);
	b = (struct lease){ .key = "kept" };
	text = lease_encode(&a);
	ok(text != NULL && strncmp(text, "lease 11\ncontainer c\"1%0A /run/root 4294967294\n",
	    47) == 0,
	    "a lease is written as lines");
	is_int(lease_decode(text, strlen(text), &b, &why), 0, "the lines are read");
	ok(same(&a, &b), "the lease is the same");
	is_str(b.key, "kept", "the key is not read from the text");
	free(text);
	lease_free(&a);
	lease_free(&b);
	ok(b.id == NULL && b.gpus == 0, "lease_free() empties the lease");
	ok(b.tasks.devcgroup == NULL && b.tasks.promised_gpus == 0 && b.tasks.who == NULL,
	    "lease_free() empties the members about tasks");
}

static void
test_states(void)
{
	static const enum lease_state states[] = { LEASE_HELD, LEASE_RELEASING, LEASE_REVOKING, LEASE_PROMISED,
		LEASE_ACQUIRING, LEASE_LEAKED };
	static const char *const names[] = { "held", "draining", "giving-back", "promised", "taking",
		"passed-on" };
	struct lease a, b;
	struct why why;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		fill(&a);
		a.state = states[i];
		a.scan.has_access = a.scan.over = true;
		b = (struct lease){ 0 };
		text = lease_encode(&a);
		ok(text != NULL && lease_decode(text, strlen(text), &b, &why) == 0 && b.state == states[i] &&
		    lease_only_promises(&b) == (i == 3),
		    "a lease that is %s is written and read back", names[i]);
		ok(!b.scan.has_access && !b.scan.over, "  the marks of a look at it are not written");
		ok(lease_holding(&b).gpu == b.gpu && lease_holding(&b).gpus == 2 && lease_holding(&a).gpu == a.tasks.promised_gpu &&
		    lease_holding(&a).gpus == 1, "  others can't have its GPUs; nor the promised ones, if its container has access");
		is_str(lease_state_name(states[i]), names[i], "  the state has its name");
		free(text);
		lease_free(&a);
		lease_free(&b);
	}
}

/* If the container passed its folders on, only the paths of these folders remain. */
static void
test_passed_on(void)
{
	struct lease a, b = { 0 };
	struct why why;
	char *text;
	size_t lookups;

	fill(&a);
	snprintf(a.reuse_hash, sizeof(a.reuse_hash), "%s", a.key);
	lookups = a.lookups;
	lease_keep_lookups(&a);
	text = lease_encode(&a);
	ok(text != NULL && lease_decode(text, strlen(text), &b, &why) == 0 &&
	    b.state == LEASE_LEAKED,
	    "a lease that was passed on is written and read back");
	ok(b.gpus == 0 && b.nodes == 0 && b.container.users == 0 && b.folders == 0 && b.container.cgroups.n == 0 &&
	    b.label[0] == '\0' && b.reuse_hash[0] == '\0' && !b.gpus_by_task && !b.planned && b.container.mnt_ns == 0,
	    "  a lease that was passed on holds nothing");
	ok(b.lookups == lookups && b.container.host_root && (lookups == 0 || lease_has_lookup(&b, &a.lookup[0])),
	    "  the lease has its folders' paths");
	free(text);
	lease_free(&a);
	lease_free(&b);
}

/* The turn of a token is a line that a lease need not have, as those of earlier versions. */
static void
test_turn(void)
{
	static const char reuse[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char *with, *without, *again = NULL;
	struct lease a, b = { 0 };
	struct why why;

	fill(&a);
	without = lease_encode(&a);
	snprintf(a.reuse_hash, sizeof(a.reuse_hash), "%s", reuse);
	with = lease_encode(&a);
	ok(strstr(without, "\nturn") == NULL && strstr(with, "\nturn 0123456789abcdef") != NULL &&
	    strlen(with) == strlen(without) + sizeof("turn ") + sizeof(reuse) - 1, "a turn is one line more");
	ok(lease_decode(with, strlen(with), &b, &why) == 0 && strcmp(b.reuse_hash, reuse) == 0 &&
	    (again = lease_encode(&b)) != NULL && strcmp(again, with) == 0, "it is read back");
	lease_free(&b);
	ok(lease_decode(without, strlen(without), &b, &why) == 0 && b.reuse_hash[0] == '\0',
	    "a lease without it is read");
	lease_free(&a);
	lease_free(&b);
	free(with);
	free(without);
	free(again);
}

/* So is that nobody has looked yet who has its GPUs open. */
static void
test_unscanned(void)
{
	struct lease a, b = { 0 };
	struct why why;
	char *text;

	fill(&a);
	text = lease_encode(&a);
	ok(strstr(text, "\nunscanned") == NULL && lease_decode(text, strlen(text), &b, &why) == 0 && !b.unscanned,
	    "a lease that was looked at has no line about it");
	free(text);
	lease_free(&b);
	a.unscanned = true;
	text = lease_encode(&a);
	ok(strstr(text, "\nunscanned yes\n") != NULL && lease_decode(text, strlen(text), &b, &why) == 0 && b.unscanned,
	    "one that was not looked at has a line, and is read back");
	free(text);
	lease_keep_lookups(&b);
	ok(!b.unscanned, "a lease without GPUs needs no look");
	lease_free(&a);
	lease_free(&b);
}

/* A container whose process 1 does not pause has none of the members about tasks. */
static void
test_without_tasks(void)
{
	struct lease a, b = { 0 };
	struct why why;
	char *text;

	fill(&a);
	a.gpus_by_task = false;
	text = lease_encode(&a);
	ok(text != NULL && strstr(text, "\ntasks no\nend\n") != NULL &&
	    strstr(text, "pausing") == NULL,
	    "a lease without tasks is written without the members about them");
	is_int(lease_decode(text, strlen(text), &b, &why), 0, "  the lease is read");
	ok(!b.gpus_by_task && b.tasks.devcgroup == NULL && b.tasks.nodes == 0 && b.container.init.pid == 2147483647,
	    "  the lease has no tasks, and has its first process");
	free(text);
	lease_free(&a);
	lease_free(&b);
}

/* The lease's text with one line replaced (NULL: removed). */
static char *
text_with(const char *line, const char *other)
{
	struct buf b = { 0 };
	struct lease l;
	char *text, *from, *to;

	fill(&l);
	text = lease_encode(&l);
	lease_free(&l);
	from = strncmp(text, line, strlen(line)) == 0 ? text : strstr(text, line);
	if (from != NULL && from != text)
		while (from[-1] != '\n')
			from--;
	to = from == NULL ? NULL : strchr(from, '\n') + 1;
	ok(from != NULL, "a line %s is found", line);
	buf_add(&b, text, (size_t)(from - text));
	if (other != NULL)
		buf_printf(&b, "%s\n", other);
	buf_puts(&b, to);
	free(text);
	return buf_take(&b);
}

static int
decode(const char *text, size_t len)
{
	struct lease l = { .key = "kept" };
	struct why why;
	int ret = lease_decode(text, len, &l, &why);

	if (ret == -1 && (l.id != NULL || l.gpus != 0 || why.code != WHY_CONFIG || strcmp(l.key, "kept") != 0))
		ret = -2;
	lease_free(&l);
	return ret;
}

static int
decode_with(const char *line, const char *other)
{
	char *text = text_with(line, other);
	int ret = decode(text, strlen(text));

	free(text);
	return ret;
}

static void
test_refused(void)
{
	static const char *const needed[] = { "lease ", "container ", "granted ", "state ", "boot ", "asker ", "init ", "namespaces ",
		"rights ", "label ", "tasks ", "pausing ", "end\n" };
	static const char *const any[] = { "cgroup ", "gpu ", "node ", "user ", "folder ", "way ", "may ", "promised " };
	static const struct {
		const char *line, *other;
	} t[] = {
		{ "lease ", "lease 7" }, { "lease ", "lease 8" }, { "lease ", "lease 08" }, { "lease ", "lease 4294967303" }, { "lease ", "lease" },
		{ "lease ", "{\"version\":3}" }, { "lease ", "lease 9" }, { "lease ", "lease 11\nlease 11" },
		{ "container ", "container c /r" }, { "container ", "container c /r -1" }, { "container ", "container c /r 4294967296" },
		{ "granted ", "granted p t/p -1" }, { "granted ", "granted p t/p 9223372036854775808" }, { "granted ", "granted p 1" },
		{ "state ", "state Held no" }, { "state ", "state - no" }, { "state ", "state 0 no" }, { "state ", "state held" },
		{ "boot ", "boot 1111111111111111111111111111111111111111" }, { "boot ", "boot" }, { "boot ", "boot a b" },
		{ "asker ", "asker -1 1" }, { "asker ", "asker 2147483648 1" }, { "asker ", "asker 4294967297 1" }, { "asker ", "asker 1" },
		{ "asker ", "asker 1 18446744073709551616" }, { "init ", "init 2147483648 1" }, { "init ", "init 1 -1" }, { "init ", "init - -" },
		{ "namespaces ", "namespaces 1 yes" }, { "namespaces ", "namespaces 1 1 1" }, { "rights ", "rights no no" },
		{ "rights ", "rights no no no no" }, { "tasks ", "tasks no" }, { "tasks ", "tasks maybe" },
		{ "gpu ", "gpu nvidia nonsense - yes 0" }, { "node ", "node /dev/nvidia0 195" }, { "node ", "node /dev/nvidia0 195 0 0 0 -1" },
		{ "user ", "user 1 2 3" }, { "user ", "user 1" }, { "cgroup ", "cgroup" }, { "cgroup ", "cgroup a b" },
		{ "folder ", "folder /srv 8:1 /srv mine" }, { "folder ", "folder /srv 8:1 srv no" }, { "folder ", "folder /srv 8:1 /srv" },
		{ "way ", "way /srv yes 8:1" }, { "way ", "way srv yes 8:1%20/" }, { "may ", "may nvidia" }, { "promised ", "promised 1 2" }, { "end\n", "end\nend" }, { "end\n", "END" },
	};
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		is_int(decode_with(needed[i], NULL), -1,
		    "a lease without the line %s is refused", needed[i]);
	for (i = 0; i < sizeof(any) / sizeof(any[0]); i++)
		is_int(decode_with(any[i], NULL), 0,
		    "a lease with one %s less is accepted", any[i]);
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		is_int(decode_with(t[i].line, t[i].other), -1,
		    "a lease with «%s» is refused", t[i].other);
	is_int(decode_with("way ", "way /srv/x no 8:1%20/x"), 0,
	    "a lease with another way is accepted");
}

/*
 * If something is removed, added or changed, the text is refused, or is exactly what lease_encode()
 * writes.
 */
static void
test_one_spelling(void)
{
	struct lease l, back = { 0 };
	struct why why;
	char *text, *again, keep;
	unsigned read = 0, other = 0;
	size_t i, n, k;
	static const char bytes[] = "\n -%0A1yn\x80";

	fill(&l);
	text = lease_encode(&l);
	n = strlen(text);
	lease_free(&l);
	for (i = 0; i < n && decode(text, i) == -1; i++)
		;
	is_int((long)i, (long)n, "no truncated lease is accepted");
	for (i = 0; i < n; i++)
		for (k = 0; k < sizeof(bytes); k++) {
			keep = text[i];
			text[i] = bytes[k];
			if (lease_decode(text, n, &back, &why) == 0) {
				read++;
				again = lease_encode(&back);
				other += again == NULL || strlen(again) != n || memcmp(again, text, n) != 0;
				free(again);
			}
			lease_free(&back);
			text[i] = keep;
		}
	ok(read > n && other == 0,
	    "a lease with a changed byte is refused, or is exactly what is written (%u accepted, "
	    "%u of them not)", read, other);
	free(text);
}

static void
test_folders(void)
{
	static struct {
		char fs[2][8], fs_path[2][16], path[2][16];
		bool meet;
	} t[] = {
		{ { "8:1", "8:1" }, { "/srv/a", "/srv/a" }, { "/x", "/y" }, true },
		{ { "8:1", "8:1" }, { "/srv/a", "/srv/a/b/c" }, { "/x", "/y" }, true },
		{ { "8:1", "8:1" }, { "/srv/a/b", "/srv/a" }, { "/x", "/y" }, true },
		{ { "8:1", "8:1" }, { "/", "/srv/a" }, { "/x", "/y" }, true },
		{ { "8:1", "8:2" }, { "/srv/a", "/srv/a" }, { "/x", "/y" }, false },
		{ { "8:1", "8:1" }, { "/srv/a", "/srv/ab" }, { "/x", "/y" }, false },
		{ { "8:1", "8:1" }, { "/srv/a", "/srv/b" }, { "/x", "/y" }, false },
		{ { "8:1", "8:11" }, { "/", "/" }, { "/x", "/y" }, false },
		/* one folder is mounted inside the other */
		{ { "8:1", "8:2" }, { "/srv/a", "/" }, { "/srv/a", "/srv/a/b" }, true },
		{ { "8:1", "8:2" }, { "/srv/a", "/" }, { "/srv/a", "/srv/ab" }, false },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct leased_folder a = { .path = t[i].path[0], .fs = t[i].fs[0], .fs_path = t[i].fs_path[0] };
		struct leased_folder b = { .path = t[i].path[1], .fs = t[i].fs[1], .fs_path = t[i].fs_path[1] };

		ok(leased_folders_overlap(&a, &b) == t[i].meet && leased_folders_overlap(&b, &a) == t[i].meet,
		    "whether the folders overlap: %s %s (%s) and %s %s (%s)",
		    t[i].fs[0], t[i].fs_path[0], t[i].path[0], t[i].fs[1], t[i].fs_path[1], t[i].path[1]);
	}
}

/* A path is bytes, not text. */
static void
test_no_text(void)
{
	struct lease l = { .id = strdup("i"), .root = strdup(""), .policy = strdup("p"), .pipeline = strdup("") }, back = { 0 };
	struct leased_folder f = { strdup("/srv/x"), strdup("8:1"), strdup("/caf\xe9"), RELABEL_PRIVATE };
	struct why why;
	char *text;

	ok(lease_add_folder(&l, &f), "a folder whose place is not UTF-8 is added");
	text = lease_encode(&l);
	ok(text != NULL && lease_decode(text, strlen(text), &back, &why) == 0 && back.folders == 1 &&
	    strcmp(back.folder[0].fs_path, "/caf\xe9") == 0, "the place is read back");
	free(text);
	lease_free(&l);
	lease_free(&back);
}

static void
test_describe(void)
{
	static struct leased_gpu gpus[24] = {
		{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .exclusive = true },
		{ .vendor = GPU_NVIDIA, .pci = "0000:3c:00.0", .part = "3:0", .exclusive = true },
		{ .vendor = GPU_AMD, .pci = "0000:03:00.0" },
	};
	struct lease l = { .gpu = gpus, .gpus = 1 };
	char line[LEASE_LINE_MAX];
	size_t i;

	lease_describe(&l, line);
	is_str(line, "GPU 0000:3b:00.0 (exclusive)", "one GPU is described");
	l.tasks.waited = 38;
	lease_describe(&l, line);
	is_str(line, "GPU 0000:3b:00.0 (exclusive), waited 38 s",
	    "a GPU is described with how long the container waited for it");
	l.tasks.waited = 0;
	l.gpus = 2;
	lease_describe(&l, line);
	is_str(line, "GPUs 0000:3b:00.0, 0000:3c:00.0 part 3:0 (exclusive)",
	    "two GPUs are described, one of them a part");
	l.gpus = 3;
	lease_describe(&l, line);
	is_str(line, "GPUs 0000:3b:00.0, 0000:3c:00.0 part 3:0, 0000:03:00.0 (shared)",
	    "GPUs of which one is shared are not described as exclusive");
	for (i = 3; i < 24; i++)
		gpus[i] = gpus[0];
	l.gpus = 24;
	memset(line, 'x', sizeof(line));
	lease_describe(&l, line);
	is_int(strlen(line), LEASE_LINE_MAX - 1, "a description that is too long is truncated");
}

#if !defined(__SANITIZE_ADDRESS__)
static char *
round_trip(void)
{
	struct lease a, b = { 0 };
	char *text, *again = NULL;
	struct why why;
	long at = fail_at;

	fail_at = -1;
	fill(&a);
	text = lease_encode(&a);
	lease_free(&a);
	fail_at = at;
	if (text != NULL && lease_decode(text, strlen(text), &b, &why) == 0)
		again = lease_encode(&b);
	lease_free(&b);
	free(text);
	return again;
}
#endif

int
main(void)
{
	test_folders();
	test_no_text();
	test_round_trip();
	test_states();
	test_passed_on();
	test_turn();
	test_unscanned();
	test_without_tasks();
	test_refused();
	test_one_spelling();
	test_describe();
#if !defined(__SANITIZE_ADDRESS__)
	starve("a lease is read and written", round_trip);
#else
	skip("when memory runs out", "a sanitizer has its own allocator");
#endif
	return done_testing();
}
