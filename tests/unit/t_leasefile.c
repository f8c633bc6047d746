/*
 * pure/leasefile.c: what is written is read back, also what versions 1 and 2 wrote, what was not written is refused,
 * and which acts are the same.
 */
#include <jansson.h>

#include "pure/leasefile.h"
#include "nomem.h"
#include "tap.h"

static void
fill(struct lease *l)
{
	*l = (struct lease){ .uid = 4294967294, .asker = { 123, UINT64_MAX }, .init = { 2147483647, 5 }, .since = 1700000000,
		.state = LEASE_DRAINING, .pauses = true };
	snprintf(l->key, sizeof(l->key), "%064d", 7);
	snprintf(l->boot, sizeof(l->boot), "11111111-2222-3333-4444-555555555555");
	l->id = strdup("c\"1\n");
	l->root = strdup("/run/root");
	l->policy = strdup("10-x.conf");
	l->pipeline = strdup("");
	(void)strlist_add(&l->cgroups, "user.slice/x", SIZE_MAX);
	l->gpu = calloc(2, sizeof(*l->gpu));
	l->gpus = 2;
	l->gpu[0] = (struct held_gpu){ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .part = "3:0", .limit = 4 };
	l->gpu[1] = (struct held_gpu){ .vendor = GPU_AMD, .pci = "0000:03:00.0", .exclusive = true };
	l->node = calloc(1, sizeof(*l->node));
	l->nodes = 1;
	l->node[0] = (struct edit_node){ .path = "/dev/nvidia0", .major = 195, .minor = 0, .mode = 0660, .uid = 1, .gid = 44 };
	l->user = calloc(1, sizeof(*l->user));
	l->users = 1;
	l->user[0] = (struct idspan){ 100000, 65536 };
	(void)lease_add_act(l, &(struct act){ .kind = ACT_ALLOW_USER, .path = "/dev/nvidia0", .major = 195, .minor = 0, .id = 4294967294,
	    .mask = ACT_NO_MASK, .inode = 0 });
	(void)lease_add_act(l, &(struct act){ .kind = ACT_ALLOW_GROUP, .path = "/dev/dri/renderD128", .major = 226, .minor = 128, .id = 1000,
	    .mask = 6, .inode = 0 });
	(void)lease_add_act(l, &(struct act){ .kind = ACT_MAKE_NODE, .path = "/dev/nvidiactl", .major = 195, .minor = 255, .id = 0,
	    .mask = ACT_NO_MASK, .inode = UINT64_MAX });
	(void)lease_add_act(l, &(struct act){ .kind = ACT_LABEL, .path = "/dev/nvidia0", .major = 195, .mask = ACT_NO_MASK,
	    .label = "system_u:object_r:gpuhelper_device_t:s0:c1,c2", .was = "system_u:object_r:xserver_misc_device_t:s0" });
	snprintf(l->label, sizeof(l->label), "system_u:system_r:nvidia_container_t:s0:c1,c2");
	(void)lease_add_folder(l, &(struct held_folder){ strdup("/srv/x"), strdup("8:1"), strdup("/@/srv/x"), RELABEL_PRIVATE });
	(void)lease_add_folder(l, &(struct held_folder){ strdup("/srv/y z"), strdup("0:43"), strdup("/"), RELABEL_NO });
	l->host_root = l->planned = l->own_pids = l->privileged = l->hooked = true;
	l->pids = 4026531836;
	l->mounts = UINT64_MAX;
	(void)lease_add_way(l, &(struct way){ .path = strdup("/srv/x"), .writable = true });
	(void)strlist_add(&l->way[0].at, "8:1 /@/srv/x", SIZE_MAX);
	l->pausing = (struct pausing){ .program = { 8, 1, UINT64_MAX }, .gate = strdup("devices/garden/x"), .idle = IDLE_STOP,
		.first_exec = 30, .left_behind = LEFT_BEHIND_KEEP, .created = 1234, .used = true, .shut = true, .left_since = 99,
		.giver = { 77, 88 }, .giving_since = 5678, .waited = 38, .uid = 1000, .gid = 6,
		.who = json_pack("{s:s}", "kind", "claim") };
	(void)pausing_add_exec(&l->pausing, (struct process_id){ 9, UINT64_MAX });
}

static bool
same_pausing(const struct pausing *a, const struct pausing *b)
{
	return file_id_same(&a->program, &b->program) && strcmp(a->gate, b->gate) == 0 && a->idle == b->idle &&
	    a->first_exec == b->first_exec && a->left_behind == b->left_behind && a->created == b->created &&
	    a->used == b->used && a->shut == b->shut && a->left_since == b->left_since &&
	    process_id_same(&a->giver, &b->giver) && a->giving_since == b->giving_since && a->waited == b->waited &&
	    a->uid == b->uid && a->gid == b->gid && json_equal(a->who, b->who) && a->execs == 1 && b->execs == 1 &&
	    process_id_same(&a->exec[0], &b->exec[0]);
}

static bool
same_folders(const struct lease *a, const struct lease *b)
{
	size_t i;

	for (i = 0; i < a->folders && i < b->folders; i++)
		if (strcmp(a->folder[i].path, b->folder[i].path) != 0 || strcmp(a->folder[i].fs, b->folder[i].fs) != 0 ||
		    strcmp(a->folder[i].place, b->folder[i].place) != 0 || a->folder[i].relabel != b->folder[i].relabel)
			return false;
	return a->folders == 2 && b->folders == 2;
}

static bool
same(const struct lease *a, const struct lease *b)
{
	size_t i;

	for (i = 0; i < a->acts && i < b->acts; i++)
		if (!act_same(&a->act[i], &b->act[i]) || a->act[i].id != b->act[i].id || a->act[i].mask != b->act[i].mask ||
		    a->act[i].inode != b->act[i].inode || strcmp(a->act[i].label, b->act[i].label) != 0 ||
		    strcmp(a->act[i].was, b->act[i].was) != 0)
			return false;
	return a->acts == b->acts && strcmp(a->id, b->id) == 0 && strcmp(a->root, b->root) == 0 &&
	    strcmp(a->policy, b->policy) == 0 && strcmp(a->pipeline, b->pipeline) == 0 && strcmp(a->boot, b->boot) == 0 &&
	    a->uid == b->uid && process_id_same(&a->asker, &b->asker) && process_id_same(&a->init, &b->init) &&
	    a->asker.pid == 123 && a->asker.start == UINT64_MAX && a->init.pid == 2147483647 && a->init.start == 5 &&
	    a->since == b->since && a->gpus == b->gpus &&
	    held_same(&a->gpu[0], &b->gpu[0]) && a->gpu[0].limit == b->gpu[0].limit && held_same(&a->gpu[1], &b->gpu[1]) &&
	    a->gpu[1].exclusive == b->gpu[1].exclusive && a->nodes == b->nodes &&
	    memcmp(a->node, b->node, sizeof(*a->node)) == 0 && a->users == b->users &&
	    memcmp(a->user, b->user, sizeof(*a->user)) == 0 && a->cgroups.n == b->cgroups.n &&
	    strcmp(a->cgroups.v[0], b->cgroups.v[0]) == 0 && a->state == b->state && a->pauses == b->pauses &&
	    strcmp(a->label, b->label) == 0 && same_folders(a, b) && a->host_root == b->host_root && a->planned == b->planned &&
	    a->own_pids && b->own_pids && a->privileged && b->privileged && a->hooked && b->hooked && a->pids == b->pids && a->mounts == b->mounts &&
	    b->pids == 4026531836 && b->mounts == UINT64_MAX && a->ways == b->ways &&
	    (a->ways == 0 || strcmp(a->way[0].path, b->way[0].path) == 0) && same_pausing(&a->pausing, &b->pausing);
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
	ok(text != NULL && strchr(text, '\n') == NULL, "a lease is one line");
	is_int(lease_decode(text, strlen(text), &b, &why), 0, "which is read");
	ok(same(&a, &b), "and says the same");
	is_str(b.key, "kept", "the key is no part of it");
	free(text);
	lease_free(&a);
	lease_free(&b);
	ok(b.id == NULL && b.acts == 0, "freed, it is empty");
	ok(b.pausing.gate == NULL && b.pausing.execs == 0 && b.pausing.who == NULL, "and knows of no tasks");
}

static void
test_states(void)
{
	static const enum lease_state states[] = { LEASE_HELD, LEASE_DRAINING, LEASE_GIVING_BACK, LEASE_GIVEN_BACK,
		LEASE_COMING_BACK, LEASE_PASSED_ON };
	static const char *const names[] = { "held", "draining", "giving-back", "given-back", "coming-back",
		"passed-on" };
	enum lease_state named = LEASE_HELD;
	struct lease a, b;
	struct why why;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		fill(&a);
		a.state = states[i];
		a.reopened = a.over = true;
		b = (struct lease){ 0 };
		text = lease_encode(&a);
		ok(text != NULL && lease_decode(text, strlen(text), &b, &why) == 0 && b.state == states[i] &&
		    lease_is_given_back(&b) == (i == 3), "a lease that is %s, there and back", names[i]);
		ok(!b.reopened && !b.over, "  what was seen of it is no part of it");
		ok(lease_holds(&b) == (i != 3) && lease_holds(&a), "  its GPUs are %s", i != 3 ? "its own" :
		    "anyone's, unless its container has access all the same");
		is_str(lease_state_name(states[i]), names[i], "  and its name");
		ok(lease_state_named(names[i], &named) && named == states[i], "  and by its name");
		free(text);
		lease_free(&a);
		lease_free(&b);
	}
	ok(!lease_state_named("Held", &named) && !lease_state_named("", &named) && !lease_state_named("held ", &named),
	    "other words are no names");
}

/* Of one whose container passed its folders on, nothing is left but the ways to them. */
static void
test_passed_on(void)
{
	struct lease a, b = { 0 };
	struct why why;
	char *text;
	size_t ways;

	fill(&a);
	ways = a.ways;
	lease_keep_ways(&a);
	text = lease_encode(&a);
	ok(text != NULL && lease_decode(text, strlen(text), &b, &why) == 0 && b.state == LEASE_PASSED_ON, "passed on, there and back");
	ok(b.gpus == 0 && b.nodes == 0 && b.users == 0 && b.folders == 0 && b.cgroups.n == 0 && b.label[0] == '\0' && !b.pauses &&
	    !b.planned && b.mounts == 0, "it holds nothing");
	ok(b.ways == ways && b.host_root && (ways == 0 || lease_has_way(&b, &a.way[0])), "but its ways");
	free(text);
	lease_free(&a);
	lease_free(&b);
}

/* A container whose process 1 does not pause has nothing of all that. */
static void
test_without_tasks(void)
{
	struct lease a, b = { 0 };
	struct why why;
	char *text;

	fill(&a);
	a.pauses = false;
	text = lease_encode(&a);
	ok(text != NULL && strstr(text, "pausing") == NULL, "a lease that knows of no tasks says nothing of them");
	is_int(lease_decode(text, strlen(text), &b, &why), 0, "and is read");
	ok(!b.pauses && b.pausing.gate == NULL && b.pausing.execs == 0 && b.init.pid == 2147483647,
	    "as that, and still knows its first process");
	free(text);
	lease_free(&a);
	lease_free(&b);
}

/* The lease with one member changed: NULL takes it away. */
static int
decode_with(const char *member, json_t *value)
{
	struct lease l;
	struct why why;
	char *text;
	json_t *j;
	int ret;

	fill(&l);
	text = lease_encode(&l);
	lease_free(&l);
	j = json_loads(text, 0, NULL);
	free(text);
	if (value == NULL)
		json_object_del(j, member);
	else
		json_object_set_new(j, member, value);
	text = json_dumps(j, 0);
	json_decref(j);
	l = (struct lease){ 0 };
	ret = lease_decode(text, strlen(text), &l, &why);
	if (ret == -1 && (l.id != NULL || l.acts != 0 || why.code == WHY_NONE))
		ret = -2;
	free(text);
	lease_free(&l);
	return ret;
}

static void
test_refused(void)
{
	static const char *const needed[] = { "version", "id", "root", "uid", "pid", "start", "boot", "policy", "pipeline",
		"cgroups", "gpus", "nodes", "users", "acts", "state", "init", "init_start", "host_root", "ways" };
	static const char *const acts[] = { "{}", "1",
		"{\"act\":\"allow-all\",\"path\":\"/dev/x\",\"major\":1,\"minor\":1,\"id\":1,\"mask\":-1,\"inode\":\"0\"}",
		"{\"act\":\"allow-user\",\"path\":\"/dev/x\",\"major\":-1,\"minor\":1,\"id\":1,\"mask\":-1,\"inode\":\"0\"}",
		"{\"act\":\"allow-user\",\"path\":\"/dev/x\",\"major\":1,\"minor\":4294967296,\"id\":1,\"mask\":-1,\"inode\":\"0\"}",
		"{\"act\":\"allow-user\",\"path\":\"/dev/x\",\"major\":1,\"minor\":1,\"mask\":-1,\"inode\":\"0\"}",
		"{\"act\":\"allow-user\",\"path\":\"/dev/x\",\"major\":1,\"minor\":1,\"id\":1,\"mask\":8,\"inode\":\"0\"}",
		"{\"act\":\"allow-user\",\"path\":\"/dev/x\",\"major\":1,\"minor\":1,\"id\":1,\"mask\":-2,\"inode\":\"0\"}",
		"{\"act\":\"allow-user\",\"path\":\"/dev/x\",\"major\":1,\"minor\":1,\"id\":1,\"mask\":\"6\",\"inode\":\"0\"}",
		"{\"act\":\"allow-user\",\"path\":\"/dev/x\",\"major\":1,\"minor\":1,\"id\":1,\"mask\":-1,\"inode\":0}",
		"{\"act\":\"label\",\"path\":\"/dev/x\",\"major\":1,\"minor\":1,\"id\":0,\"mask\":-1,\"inode\":\"0\"}",
		"{\"act\":\"label\",\"path\":\"/dev/x\",\"major\":1,\"minor\":1,\"id\":0,\"mask\":-1,\"inode\":\"0\",\"label\":\"l\"}" };
	static const char *const folders[] = { "{}", "[{}]", "[\"/srv\"]",
		"[{\"path\":\"/srv\",\"fs\":\"8:1\",\"place\":\"/srv\",\"relabel\":\"mine\"}]",
		"[{\"path\":\"/srv\",\"fs\":\"8:1\",\"place\":\"srv\",\"relabel\":\"no\"}]",
		"[{\"path\":\"/srv\",\"fs\":\"8:1\",\"place\":\"/srv\"}]" };
	char list[400];
	size_t i;

	is_int(decode_with("unknown", json_true()), 0, "a member of a later version is passed over");
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		is_int(decode_with(needed[i], NULL), -1, "without %s it is none", needed[i]);
		is_int(decode_with(needed[i], json_null()), -1, "nor with %s null", needed[i]);
	}
	is_int(decode_with("draining", json_integer(1)), 0, "one of an earlier version means nothing in this one");
	is_int(decode_with("version", json_integer(4)), -1, "nor of another version");
	is_int(decode_with("version", json_integer(0)), -1, "nor of the one before the first");
	is_int(decode_with("version", json_integer(-1)), -1, "nor of a negative one");
	is_int(decode_with("version", json_integer(4294967299)), -1, "nor of one that is 3 in 32 bits");
	is_int(decode_with("version", json_string("3")), -1, "nor of one that is text");
	is_int(decode_with("state", json_string("Held")), -1, "nor in an unknown state");
	is_int(decode_with("state", json_string("")), -1, "nor in none");
	is_int(decode_with("state", json_integer(0)), -1, "nor in one that is a number");
	is_int(decode_with("pid", json_integer(-1)), -1, "nor of a negative pid");
	is_int(decode_with("pid", json_integer(2147483648)), -1, "nor of one too large");
	is_int(decode_with("pid", json_integer(4294967297)), -1, "nor of one that is 1 in 32 bits");
	is_int(decode_with("pid", json_string("1")), -1, "nor of one that is text");
	is_int(decode_with("start", json_integer(1)), -1, "nor with a start time that is a number");
	is_int(decode_with("init", json_integer(-1)), -1, "nor with a first process of a negative pid");
	is_int(decode_with("init", json_integer(2147483648)), -1, "nor of one too large");
	is_int(decode_with("init_start", json_integer(1)), -1, "nor of a start time that is a number");
	is_int(decode_with("init_start", json_string("-1")), -1, "nor of a negative one");
	is_int(decode_with("pausing", NULL), 0, "one without tasks is read");
	is_int(decode_with("planned", json_true()), 0, "one whose acts are planned is read");
	is_int(decode_with("planned", json_false()), -1, "one that says that they are not is not");
	is_int(decode_with("planned", json_integer(1)), -1, "nor one that says it with a number");
	is_int(decode_with("pausing", json_null()), -1, "one whose tasks are null is not");
	is_int(decode_with("pausing", json_object()), -1, "nor where nothing is said of them");
	is_int(decode_with("pausing", json_array()), -1, "nor where they are a list");
	is_int(decode_with("pausing", json_true()), -1, "nor where they are a word");
	is_int(decode_with("uid", json_integer(-1)), -1, "nor with a negative uid");
	is_int(decode_with("uid", json_integer(4294967296)), -1, "nor one too large");
	is_int(decode_with("start", json_string("18446744073709551616")), -1, "nor a start time too large");
	is_int(decode_with("boot", json_string("1111111111111111111111111111111111111111")), -1, "nor a boot id too long");
	for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		snprintf(list, sizeof(list), "[%s]", acts[i]);
		is_int(decode_with("acts", json_loads(list, 0, NULL)), -1, "nor with the act %s", acts[i]);
	}
	is_int(decode_with("users", json_loads("[[1,2,3]]", 0, NULL)), -1, "nor with a span of three numbers");
	is_int(decode_with("nodes", json_loads("[{\"path\":\"/dev/nvidia0\",\"major\":195}]", 0, NULL)), -1,
	    "nor with a node without a minor");
	is_int(decode_with("folders", NULL), 0, "one without folders, of before they were written down, is read");
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		is_int(decode_with("folders", json_loads(folders[i], 0, NULL)), -1, "one with the folders %s is not", folders[i]);
}

static void
test_folders(void)
{
	static struct {
		char fs[2][8], place[2][16], path[2][16];
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
		/* one is mounted in the other */
		{ { "8:1", "8:2" }, { "/srv/a", "/" }, { "/srv/a", "/srv/a/b" }, true },
		{ { "8:1", "8:2" }, { "/srv/a", "/" }, { "/srv/a", "/srv/ab" }, false },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct held_folder a = { .path = t[i].path[0], .fs = t[i].fs[0], .place = t[i].place[0] };
		struct held_folder b = { .path = t[i].path[1], .fs = t[i].fs[1], .place = t[i].place[1] };

		ok(held_folders_meet(&a, &b) == t[i].meet && held_folders_meet(&b, &a) == t[i].meet, "%s %s (%s) and %s %s (%s)",
		    t[i].fs[0], t[i].place[0], t[i].path[0], t[i].fs[1], t[i].place[1], t[i].path[1]);
	}
}

/* A lease without the folder would hold nothing. */
static void
test_unwritable(void)
{
	struct lease l = { .id = strdup("i"), .root = strdup(""), .policy = strdup("p"), .pipeline = strdup("") };
	struct held_folder f = { strdup("/srv/x"), strdup("8:1"), strdup("/caf\xe9"), RELABEL_PRIVATE };
	char *text;

	ok(lease_add_folder(&l, &f), "a folder whose place is no text");
	text = lease_encode(&l);
	ok(text == NULL, "makes no lease");
	free(text);
	lease_free(&l);
}

static void
test_first_version(void)
{
	static const char text[] = "{\"version\":1,\"id\":\"p\",\"root\":\"\",\"uid\":7,\"pid\":1,\"start\":\"9\",\"boot\":\"b\","
	    "\"since\":0,\"policy\":\"p\",\"pipeline\":\"\",\"cgroups\":[],\"gpus\":[{\"vendor\":\"nvidia\",\"pci\":"
	    "\"0000:3b:00.0\",\"partition\":0,\"exclusive\":true,\"limit\":0}],\"nodes\":[{\"path\":\"/dev/nvidia0\","
	    "\"major\":195,\"minor\":0}],\"users\":[]}";
	struct lease l = { 0 };
	struct why why;

	is_int(lease_decode(text, strlen(text), &l, &why), 0, "a lease of the version before is read");
	ok(l.acts == 0 && l.state == LEASE_HELD && l.gpus == 1 && l.nodes == 1, "it has done nothing to the host");
	ok(l.nodes == 1 && l.node[0].mode == LEASE_MODE_UNKNOWN, "how its nodes were is not known");
	ok(l.asker.pid == 1 && l.asker.start == 9, "who asked is");
	ok(l.init.pid == 0 && l.init.start == 0 && !l.pauses && l.folders == 0, "its first process is not, nor its tasks");
	lease_free(&l);
}

#define SECOND(draining) "{\"version\":2,\"id\":\"c1\",\"root\":\"/run/runc\",\"uid\":7,\"pid\":4242," \
    "\"start\":\"99\",\"boot\":\"b\",\"since\":1700000000,\"policy\":\"p\",\"pipeline\":\"ml/train\"," \
    "\"cgroups\":[\"a\",\"b\"],\"gpus\":[{\"vendor\":\"nvidia\",\"pci\":\"0000:3b:00.0\",\"part\":\"\",\"exclusive\":true,\"limit\":0}]," \
    "\"nodes\":[{\"path\":\"/dev/nvidia0\",\"major\":195,\"minor\":0,\"mode\":432,\"uid\":0,\"gid\":44}]," \
    "\"users\":[[100000,65536]],\"acts\":[{\"act\":\"allow-user\",\"path\":\"/dev/nvidia0\",\"major\":195," \
    "\"minor\":0,\"id\":7,\"mask\":-1,\"inode\":\"0\"}],\"folders\":[]," draining "\"label\":\"u:r:t:s0\"}"

/* It said «draining», and knew no first process and no tasks; what it may say of these is of no account. */
static void
test_second_version(void)
{
	static const struct {
		const char *text, *what;
		int ret;
		enum lease_state state;
	} t[] = {
		{ SECOND("\"draining\":false,"), "one that is held", 0, LEASE_HELD },
		{ SECOND("\"draining\":true,"), "one that is draining", 0, LEASE_DRAINING },
		{ SECOND("\"draining\":false,\"state\":\"given-back\",\"init\":5,\"init_start\":\"6\",\"pausing\":{},"),
		    "one that has members of the third", 0, LEASE_HELD },
		{ SECOND(""), "one that does not say", -1, LEASE_HELD },
		{ SECOND("\"draining\":null,"), "one that says null", -1, LEASE_HELD },
		{ SECOND("\"draining\":1,"), "one that says 1", -1, LEASE_HELD },
		{ SECOND("\"draining\":\"true\","), "one that says it as text", -1, LEASE_HELD },
		{ SECOND("\"state\":\"held\",\"init\":5,\"init_start\":\"6\","), "one that says it as the third does", -1,
		    LEASE_HELD },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct lease l = { 0 };

		is_int(lease_decode(t[i].text, strlen(t[i].text), &l, &why), t[i].ret, "the second version: %s", t[i].what);
		if (t[i].ret == -1)
			ok(l.id == NULL && l.acts == 0 && l.gpus == 0, "  leaves nothing");
		else {
			ok(l.state == t[i].state && !l.pauses && l.init.pid == 0 && l.init.start == 0, "  is in its state, without tasks");
			ok(l.asker.pid == 4242 && l.asker.start == 99 && l.gpus == 1 && l.gpu[0].exclusive && l.nodes == 1 &&
			    l.node[0].mode == 0660 && l.node[0].gid == 44 && l.acts == 1 && l.users == 1 && l.cgroups.n == 2 &&
			    l.uid == 7 && strcmp(l.pipeline, "ml/train") == 0 && strcmp(l.label, "u:r:t:s0") == 0,
			    "  and all else is read");
		}
		lease_free(&l);
	}
}

static void
test_describe(void)
{
	static struct held_gpu gpus[24] = {
		{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .exclusive = true },
		{ .vendor = GPU_NVIDIA, .pci = "0000:3c:00.0", .part = "3:0", .exclusive = true },
		{ .vendor = GPU_AMD, .pci = "0000:03:00.0" },
	};
	struct lease l = { .gpu = gpus, .gpus = 1 };
	char line[LEASE_LINE_MAX];
	size_t i;

	lease_describe(&l, line);
	is_str(line, "GPU 0000:3b:00.0 (exclusive)", "one GPU, told of");
	l.pausing.waited = 38;
	lease_describe(&l, line);
	is_str(line, "GPU 0000:3b:00.0 (exclusive), waited 38 s", "one that was waited for");
	l.pausing.waited = 0;
	l.gpus = 2;
	lease_describe(&l, line);
	is_str(line, "GPUs 0000:3b:00.0, 0000:3c:00.0 part 3:0 (exclusive)", "two, one of them a part");
	l.gpus = 3;
	lease_describe(&l, line);
	is_str(line, "GPUs 0000:3b:00.0, 0000:3c:00.0 part 3:0, 0000:03:00.0 (shared)", "one of them shared: not exclusive");
	for (i = 3; i < 24; i++)
		gpus[i] = gpus[0];
	l.gpus = 24;
	memset(line, 'x', sizeof(line));
	lease_describe(&l, line);
	is_int(strlen(line), LEASE_LINE_MAX - 1, "too many for a line are cut");
}

static void
test_acts(void)
{
	const struct act user = { .kind = ACT_ALLOW_USER, .path = "/dev/nvidia0", .major = 195, .minor = 0, .id = 5,
	    .mask = ACT_NO_MASK, .inode = 0 };
	struct act other = user;
	struct lease l = { 0 };

	ok(act_same(&user, &other), "the same act");
	other.mask = 6;
	other.inode = 9;
	ok(act_same(&user, &other), "whatever it found");
	other.kind = ACT_ALLOW_GROUP;
	ok(!act_same(&user, &other) && act_same_node(&user, &other), "a group is no user");
	other = user;
	other.id = 6;
	ok(!act_same(&user, &other), "nor another user");
	other = user;
	other.minor = 1;
	ok(!act_same(&user, &other) && !act_same_node(&user, &other), "nor another device");
	other = user;
	snprintf(other.path, sizeof(other.path), "/dev/nvidia00");
	ok(!act_same(&user, &other), "nor another path");
	other = user;
	other.kind = ACT_LABEL;
	ok(!act_same(&user, &other), "nor a label");
	ok(lease_add_act(&l, &user) && lease_add_act(&l, &user), "twice the same act");
	is_int(l.acts, 1, "is one");
	ok(lease_add_act(&l, &other), "and another");
	is_int(l.acts, 2, "is two");
	lease_free(&l);
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
	test_unwritable();
	test_round_trip();
	test_states();
	test_passed_on();
	test_without_tasks();
	test_refused();
	test_first_version();
	test_second_version();
	test_describe();
	test_acts();
#if !defined(__SANITIZE_ADDRESS__)
	json_object_seed(1);
	starve("reading and writing a lease", round_trip);
#else
	skip("memory that runs out", "a sanitizer has its own allocator");
#endif
	return done_testing();
}
