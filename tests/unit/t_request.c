/*
 * pure/request.c: the request, that it comes back as it went, and that root takes
 * none which is not exactly one.  Also what a container may write into
 * GPUHELPER_GPUS and GPUHELPER_FOLDERS.
 */
#include <jansson.h>

#include "pure/cleanup.h"
#include "pure/request.h"
#include "nomem.h"
#include "tap.h"

static const char minimal[] = "{\"verb\":\"grant\",\"id\":\"c1\",\"runtime_root\":\"\",\"cgroups_path\":\"\","
    "\"systemd_cgroup\":false,\"uids\":null,\"gids\":null,\"uid\":0,\"gid\":0,\"groups\":[],\"dac_override\":false,"
    "\"privileged\":false,\"shut\":[],\"no_chores\":false}";

#define KEY_A "0000000000000000000000000000000000000000000000000000000000000000"
#define KEY_B "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

static int
decode(const char *text, struct request *r, struct why *why)
{
	*why = (struct why){ 0 };
	return request_decode(text, strlen(text), r, why);
}

/* minimal with one member set to a JSON text (NULL: taken out); the caller frees. */
static char *
with(const char *key, const char *value)
{
	json_t *j = json_loads(minimal, 0, NULL);
	char *text;

	if (value == NULL)
		json_object_del(j, key);
	else
		json_object_set_new(j, key, json_loads(value, JSON_DECODE_ANY, NULL));
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	return text;
}

static void
test_minimal(void)
{
	autorequest struct request r;
	autofree char *text = NULL;
	struct why why;

	if (!ok(decode(minimal, &r, &why) == 0, "the least that a request is: %s", why.text))
		return;
	ok(r.verb == VERB_GRANT && strcmp(r.id, "c1") == 0 && r.uids.identity && r.gids.identity && r.uids.n == 0 &&
	    r.gid_count == 0 && !r.privileged && !r.dac_override && !r.systemd_cgroup, "is read as it stands");
	ok(r.token == NULL && r.team == NULL && r.pipeline == NULL && r.job == NULL && r.instance_vars == NULL &&
	    r.gpus == NULL && r.folders == NULL && r.reason == NULL &&
	    r.label == NULL && r.mount_label == NULL && r.init_path == NULL, "what is not there is NULL");
	ok(r.shut.n == 0 && !r.no_chores && !r.at_once && r.init_file.major == 0 && r.init_file.minor == 0 && r.init_file.inode == 0,
	    "nor is anything shut, or a file named");
	is_str(text = request_encode(&r), minimal, "and is written the same way");
}

static void
test_round_trip(void)
{
	static const char *const verbs[] = { "grant", "look", "refused", "plain", "status", "release", "reapply", "created",
		"exec" };
	char team[] = "t\"\\\xc3\xa4", root[] = "/run/runc", cgroup[] = "garden/x", id[] = "a_+-.Z9", job[] = "j",
	    token[] = "e.y.J";
	char pipeline[] = "p", vars[] = "{\"a\":1}", gpus[] = "1", folders[] = "/srv/a:ro", reason[] = "no", cuda[] = "0,1", rocr[] = "";
	char label[] = "u:r:t:s0", mount[] = "u:object_r:f:s0", init[] = "/tmp/gdn-init", verb[32];
	char *shut[] = { (char[]){ KEY_A }, (char[]){ KEY_B } };
	struct request in = { .id = id, .runtime_root = root, .cgroups_path = cgroup, .systemd_cgroup = true,
		.uid = 7, .gid = 4294967294, .gid_list = { 1, 0, 4294967294 }, .gid_count = 3, .dac_override = true,
		.privileged = true, .token = token, .team = team, .pipeline = pipeline, .job = job,
		    .instance_vars = vars,
		.gpus = gpus, .folders = folders, .cuda_visible = cuda, .rocr_visible = rocr, .reason = reason,
		.label = label, .mount_label = mount, .init_path = init,
		.init_file = { 4294967295, 4294967295, UINT64_MAX }, .shut = { shut, 2 }, .no_chores = true, .at_once = true };
	struct why why;
	unsigned v;

	in.uids.v[in.uids.n++] = (struct idrange){ 0, 4294967294, 1 };
	in.uids.v[in.uids.n++] = (struct idrange){ 1, 1, 4294967293 };
	for (v = 0; v <= VERB_EXEC; v++) {
		autorequest struct request out;
		autofree char *text = NULL, *again = NULL;

		in.verb = (enum verb)v;
		text = request_encode(&in);
		if (!ok(text != NULL && decode(text, &out, &why) == 0, "%s: there and back: %s", verbs[v], why.text))
			continue;
		is_str(again = request_encode(&out), text, "  the same text");
		snprintf(verb, sizeof(verb), "{\"verb\":\"%s\",", verbs[v]);
		ok(text_starts(text, verb), "  its verb's name");
		ok(out.verb == in.verb && out.uids.n == 2 && !out.uids.identity && out.uids.v[1].size == 4294967293 &&
		    !out.gids.identity && out.gids.n == 0, "  its verb and mappings");
		ok(out.uid == 7 && out.gid == 4294967294 && out.gid_count == 3 && out.gid_list[2] == 4294967294 &&
		    out.systemd_cgroup && out.dac_override && out.privileged, "  its numbers");
		ok(strcmp(out.token, token) == 0 && strcmp(out.team, team) == 0 && strcmp(out.instance_vars,
		    vars) == 0 &&
		    strcmp(out.reason, reason) == 0 && strcmp(out.folders, folders) == 0 && strcmp(out.cuda_visible, cuda) == 0 && strcmp(out.rocr_visible, rocr) == 0 &&
		    strcmp(out.label, label) == 0 && strcmp(out.mount_label, mount) == 0,
		    "  its texts");
		ok(strcmp(out.init_path, init) == 0 && file_id_same(&out.init_file, &in.init_file) && out.no_chores && out.at_once &&
		    out.shut.n == 2 && strcmp(out.shut.v[0], KEY_A) == 0 && strcmp(out.shut.v[1], KEY_B) == 0,
		    "  its first process, and what was shut");
	}
	in.id = NULL;
	ok(request_encode(&in) == NULL, "a request without an id is none");
	id[0] = '\xff';
	in.id = id;
	ok(request_encode(&in) == NULL, "nor is one that is not UTF-8");
}

#define SHUT_LIST "request: shut is not a list of at most 64 leases"
#define SHUT_KEY "request: shut holds what is no lease"

static void
test_refused(void)
{
	static const struct {
		const char *key, *value, *why;
	} t[] = {
		{ "verb", NULL, "request: a member is missing" },
		{ "id", NULL, "request: a member is missing" },
		{ "uids", NULL, "request: a member is missing" },
		{ "privileged", NULL, "request: a member is missing" },
		{ "shut", NULL, "request: a member is missing" },
		{ "no_chores", NULL, "request: a member is missing" },
		{ "shut", "null", SHUT_LIST },
		{ "shut", "{}", SHUT_LIST },
		{ "shut", "\"" KEY_A "\"", SHUT_LIST },
		{ "shut", "true", SHUT_LIST },
		{ "shut", "[\"\"]", SHUT_KEY },
		{ "shut", "[\"" KEY_A "0\"]", SHUT_KEY },
		{ "shut", "[\"" KEY_A "\",\"short\"]", SHUT_KEY },
		{ "shut", "[1]", SHUT_KEY },
		{ "shut", "[null]", SHUT_KEY },
		{ "shut", "[[\"" KEY_A "\"]]", SHUT_KEY },
		{ "no_chores", "null", "request: a member is of the wrong type" },
		{ "no_chores", "0", "request: a member is of the wrong type" },
		{ "no_chores", "\"true\"", "request: a member is of the wrong type" },
		{ "init_path", "\"/tmp/gdn-init\"", "request: init_path and init_file belong together" },
		{ "init_file", "\"8:1:5\"", "request: init_path and init_file belong together" },
		{ "init_path", "null", "request: a member is of the wrong type" },
		{ "init_path", "1", "request: a member is of the wrong type" },
		{ "init_file", "null", "request: a member is of the wrong type" },
		{ "init_file", "[8,1,5]", "request: a member is of the wrong type" },
		{ "verb", "\"Exec\"", "request: unknown verb \"Exec\"" },
		{ "verb", "\"creat\"", "request: unknown verb \"creat\"" },
		{ "surprise", "1", "request: a member too many" },
		{ "verb", "\"Grant\"", "request: unknown verb \"Grant\"" },
		{ "verb", "\"\"", "request: unknown verb \"\"" },
		{ "verb", "1", "request: a member is of the wrong type" },
		{ "id", "\"\"", "container id \"\" is not one that runc would take" },
		{ "id", "\".\"", "container id \".\" is not one that runc would take" },
		{ "id", "\"..\"", "container id \"..\" is not one that runc would take" },
		{ "id", "\"a/b\"", "container id \"a/b\" is not one that runc would take" },
		{ "id", "\"a b\"", "container id \"a b\" is not one that runc would take" },
		{ "id", "\"a\\n\"", "container id \"a?\" is not one that runc would take" },
		{ "id", "\"\xc3\xa4\"", "container id \"\xc3\xa4\" is not one that runc would take" },
		{ "id", "null", "request: a member is of the wrong type" },
		{ "runtime_root", "\"run/runc\"", "--root \"run/runc\" is not an absolute path" },
		{ "runtime_root", "\" /run\"", "--root \" /run\" is not an absolute path" },
		{ "runtime_root", "\"/run\\u0001\"", "--root has a control character" },
		{ "runtime_root", "\"/run\\u007f\"", "--root has a control character" },
		{ "runtime_root", "\"/run\\u0085/x\"", "--root has a control character" },
		{ "cgroups_path", "\"/a\\n\"", "linux.cgroupsPath has a control character" },
		{ "cgroups_path", "\"a\\u009f\"", "linux.cgroupsPath has a control character" },
		{ "systemd_cgroup", "1", "request: a member is of the wrong type" },
		{ "uid", "-1", "request: the process's uid or gid is out of range" },
		{ "uid", "4294967295", "request: the process's uid or gid is out of range" },
		{ "gid", "4294967296", "request: the process's uid or gid is out of range" },
		{ "gid", "1.0", "request: the process's uid or gid is out of range" },
		{ "gid", "\"0\"", "request: the process's uid or gid is out of range" },
		{ "gid", "null", "request: the process's uid or gid is out of range" },
		{ "uids", "{}", "request: id mappings are malformed" },
		{ "uids", "true", "request: id mappings are malformed" },
		{ "uids", "[[0,0]]", "request: id mappings are malformed" },
		{ "uids", "[[0,0,1,1]]", "request: id mappings are malformed" },
		{ "uids", "[0]", "request: id mappings are malformed" },
		{ "uids", "[[0,0,-1]]", "request: id mappings are malformed" },
		{ "uids", "[[0,4294967295,1]]", "request: id mappings are malformed" },
		{ "gids", "[[0,0,4294967295]]", "request: id mappings are malformed" },
		{ "gids", "[[0,0,1],[\"1\",1,1]]", "request: id mappings are malformed" },
		{ "groups", "[-1]", "request: a group is malformed" },
		{ "groups", "[4294967295]", "request: a group is malformed" },
		{ "groups", "[0,\"1\"]", "request: a group is malformed" },
		{ "groups", "null", "request: a group is malformed" },
		{ "groups", "{}", "request: a group is malformed" },
		{ "groups", "{\"0\":0}", "request: a group is malformed" },
		{ "groups", "\"\"", "request: a group is malformed" },
		{ "token", "null", "request: a member is of the wrong type" },
		{ "token", "{}", "request: a member is of the wrong type" },
		{ "gpus", "1", "request: a member is of the wrong type" },
	};
	struct request r;
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autofree char *text = with(t[i].key, t[i].value);

		is_int(decode(text, &r, &why), -1, "refused: %s", text);
		is_str(why.text, t[i].why, "  which is said");
		is_int(why.code, WHY_DATA, "  and is the sender's fault");
		request_free(&r);
	}
	is_int(decode("{\"verb\":\"grant\",\"verb\":\"plain\"}", &r, &why), -1, "a key that stands twice is refused");
	is_int(decode("[]", &r, &why), -1, "and so is what is no object");
	request_free(&r);
}

/* The file that process 1 is to run: "major:minor:inode", beside its path. */
static void
test_init_file(void)
{
	static const struct {
		const char *text;
		bool taken;
		struct file_id id;
	} t[] = {
		{ "8:1:5", true, { 8, 1, 5 } }, { "0:0:0", true, { 0, 0, 0 } },
		{ "4294967295:4294967295:18446744073709551615", true, { UINT32_MAX, UINT32_MAX, UINT64_MAX } },
		{ "4294967296:1:5", false, { 0 } }, { "8:4294967296:5", false, { 0 } },
		{ "8:1:18446744073709551616", false, { 0 } }, { "", false, { 0 } }, { ":", false, { 0 } }, { "::", false, { 0 } },
		{ "8", false, { 0 } }, { "8:1", false, { 0 } }, { "8:1:", false, { 0 } }, { ":1:5", false, { 0 } },
		{ "8::5", false, { 0 } }, { "8:1:5:7", false, { 0 } }, { "8:1:5 ", false, { 0 } }, { " 8:1:5", false, { 0 } },
		{ "-8:1:5", false, { 0 } }, { "+8:1:5", false, { 0 } }, { "8:1:0x5", false, { 0 } }, { "08:1:5", false, { 0 } },
		{ "8:1:-5", false, { 0 } }, { "8,1,5", false, { 0 } },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		json_t *j = json_loads(minimal, 0, NULL);
		autorequest struct request r;
		autofree char *text = NULL, *again = NULL;

		json_object_set_new(j, "init_path", json_string("/tmp/gdn-init"));
		json_object_set_new(j, "init_file", json_string(t[i].text));
		text = json_dumps(j, JSON_COMPACT);
		json_decref(j);
		is_int(decode(text, &r, &why), t[i].taken ? 0 : -1, "the first process runs \"%s\"", t[i].text);
		if (t[i].taken)
			ok(file_id_same(&r.init_file, &t[i].id) && (again = request_encode(&r)) != NULL && strcmp(again, text) == 0,
			    "  is read, and written the same way");
		else
			is_str(why.text, "request: init_file is malformed", "  is refused");
	}
}

/* A member with a text of n times the same letter; of a path, after "/". */
static int
decode_long(const char *key, size_t n, struct why *why)
{
	struct request r;
	json_t *j = json_loads(minimal, 0, NULL);
	autofree char *s = malloc(n + 1), *text = NULL;
	int ret;

	memset(s, 'x', n);
	if (strcmp(key, "runtime_root") == 0)
		s[0] = '/';
	s[n] = '\0';
	json_object_set_new(j, key, json_string(s));
	if (strcmp(key, "init_path") == 0)
		json_object_set_new(j, "init_file", json_string("8:1:5"));
	text = json_dumps(j, 0);
	json_decref(j);
	ret = decode(text, &r, why);
	request_free(&r);
	return ret;
}

static void
test_long(void)
{
	static const struct {
		const char *key;
		size_t max;
	} t[] = {
		{ "id", 255 }, { "runtime_root", 1024 }, { "cgroups_path", 1024 }, { "token", 16384 },
		    { "team", 1024 },
		{ "pipeline", 1024 }, { "job", 1024 }, { "instance_vars", 65536 }, { "gpus", 16384 },
		    { "folders", 131072 }, { "label", 1024 }, { "mount_label", 1024 },
		{ "init_path", 4096 }, { "reason", 2048 }, { "cuda_visible", 4096 }, { "rocr_visible", 4096 },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		is_int(decode_long(t[i].key, t[i].max, &why), 0, "%s of %zu bytes: %s", t[i].key, t[i].max, why.text);
		is_int(decode_long(t[i].key, t[i].max + 1, &why), -1, "one byte more is refused");
		ok(strchr(why.text, '\n') == NULL && why.code == WHY_DATA, "  which is said: %.60s", why.text);
	}
}

/* What runtimes take must pass. */
static void
test_names(void)
{
	static const char *const t[][2] = {
		{ "id", "\"a\"" }, { "id", "\"...\"" }, { "id", "\"-_+.Z9\"" }, { "id", "\"--help\"" },
		{ "runtime_root", "\"\"" }, { "runtime_root", "\"/\"" }, { "runtime_root", "\"/run/user/1000/crun\"" },
		{ "runtime_root", "\"/srv/\\u00e4 b\"" }, { "cgroups_path", "\"system.slice:cri-containerd:0123abcd\"" },
		{ "cgroups_path", "\"/garden/x\"" }, { "cgroups_path", "\"../x \\u00a0\"" }, { "cgroups_path", "\"-.slice:a:b\"" },
	};
	struct request r;
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autofree char *text = with(t[i][0], t[i][1]);

		ok(decode(text, &r, &why) == 0, "%s %s is taken: %s", t[i][0], t[i][1], why.text);
		request_free(&r);
	}
}

static void
test_many(void)
{
	json_t *j = json_loads(minimal, 0, NULL), *ranges = json_array(), *groups = json_array();
	struct request r;
	struct why why;
	char *text;
	int i;

	for (i = 0; i < IDMAP_MAX; i++)
		json_array_append_new(ranges, json_pack("[i,i,i]", i, i, 1));
	for (i = 0; i < REQUEST_GIDS_MAX; i++)
		json_array_append_new(groups, json_integer(i));
	json_object_set_new(j, "uids", ranges);
	json_object_set_new(j, "groups", groups);
	text = json_dumps(j, 0);
	ok(decode(text, &r, &why) == 0 && r.uids.n == IDMAP_MAX && r.gid_count == REQUEST_GIDS_MAX &&
	    r.gid_list[REQUEST_GIDS_MAX - 1] == REQUEST_GIDS_MAX - 1, "as many mappings and groups as there may be");
	free(text);
	request_free(&r);
	json_array_append_new(groups, json_integer(0));
	text = json_dumps(j, 0);
	ok(decode(text, &r, &why) == -1 && strcmp(why.text, "request: more than 64 supplementary groups") == 0,
	    "one group more is refused");
	free(text);
	request_free(&r);
	json_array_clear(groups);
	json_array_append_new(ranges, json_pack("[i,i,i]", 0, 0, 1));
	text = json_dumps(j, 0);
	ok(decode(text, &r, &why) == -1 && strcmp(why.text, "request: id mappings are malformed") == 0,
	    "one mapping more is refused");
	free(text);
	request_free(&r);
	json_decref(j);
}

static void
test_many_shut(void)
{
	json_t *j = json_loads(minimal, 0, NULL), *shut = json_array();
	struct request r;
	struct why why;
	char *text;
	int i;

	for (i = 0; i < REQUEST_SHUT_MAX; i++)
		json_array_append_new(shut, json_string(i % 2 == 0 ? KEY_A : KEY_B));
	json_object_set_new(j, "shut", shut);
	text = json_dumps(j, 0);
	ok(decode(text, &r, &why) == 0 && r.shut.n == REQUEST_SHUT_MAX && strcmp(r.shut.v[63], KEY_B) == 0,
	    "as many leases as may be shut at a time");
	free(text);
	request_free(&r);
	json_array_append_new(shut, json_string(KEY_A));
	text = json_dumps(j, 0);
	is_int(decode(text, &r, &why), -1, "one more is refused");
	is_str(why.text, SHUT_LIST, "  which is said");
	free(text);
	request_free(&r);
	json_decref(j);
}

/* What an ask says, in one line: "2 amd:1 id=X | /srv/a=ro". */
static char *
describe(const struct ask *a)
{
	static const char *const access[] = { "any", "ro", "rw" };
	struct buf b = { 0 };
	size_t i;

	if (a->everything)
		buf_puts(&b, "everything ");
	if (a->all_gpus)
		buf_puts(&b, "all ");
	for (i = 0; i < a->counts; i++)
		buf_printf(&b, "%s%s%u ", a->count[i].has_vendor ? gpu_vendor_name(a->count[i].vendor) : "",
		    a->count[i].has_vendor ? ":" : "", a->count[i].n);
	for (i = 0; i < a->gpu_ids.n; i++)
		buf_printf(&b, "id=%s ", a->gpu_ids.v[i]);
	buf_puts(&b, "|");
	if (a->all_folders)
		buf_puts(&b, " all");
	for (i = 0; i < a->folders; i++)
		buf_printf(&b, " %s=%s", a->folder[i].path, access[a->folder[i].access]);
	return buf_take(&b);
}

static void
test_ask(void)
{
	static const struct {
		const char *gpus, *folders, *says;
		bool gpus_wanted;
	} t[] = {
		{ NULL, NULL, "everything |", true },
		{ "none", NULL, "|", false },
		{ NULL, "none", "|", false },
		{ "none", "none", "|", false },
		{ "1", NULL, "1 |", true },
		{ "64", NULL, "64 |", true },
		{ "2,amd:1,intel:3", NULL, "2 amd:1 intel:3 |", true },
		{ "all", NULL, "all |", true },
		{ "all,all", NULL, "all |", true },
		{ "all", "all", "all | all", true },
		{ "GPU-11111111-2222-3333-4444-555555555555,0000:3b:00.0,3B:00.1,0xabc,nvidia:2", NULL,
		    "nvidia:2 id=GPU-11111111-2222-3333-4444-555555555555 id=0000:3b:00.0 id=3B:00.1 id=0xabc |",
		    true },
		{ NULL, "/srv/a", "| /srv/a=any", false },
		{ NULL, "/srv/a:ro,/srv/b:rw,/srv/c", "| /srv/a=ro /srv/b=rw /srv/c=any", false },
		{ NULL, "/srv/a:b:ro", "| /srv/a:b=ro", false },
		{ NULL, "/srv/a:x", "| /srv/a:x=any", false },
		{ NULL, "/srv/a:ro:rw", "| /srv/a:ro=rw", false },
		{ NULL, "all", "| all", false },
		{ "1,1,1,1,1,1,1", NULL, "1 1 1 1 1 1 1 |", true },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autoask struct ask a = { 0 };
		autofree char *says = NULL;

		why = (struct why){ 0 };
		is_int(ask_parse(t[i].gpus, t[i].folders, &a, &why), 0, "asked: %s and %s: %s", t[i].gpus ? t[i].gpus :
		    "-",
		    t[i].folders ? t[i].folders : "-", why.text);
		is_str(says = describe(&a), t[i].says, "  is read as it is meant");
		ok(ask_wants_gpus(&a) == t[i].gpus_wanted, "  %s GPUs", t[i].gpus_wanted ? "wants" : "wants no");
	}
}

/* A workload manager's choice. */
static void
test_bound(void)
{
	static const struct {
		enum gpu_vendor vendor;
		const char *text;
		int ret;
		size_t n;
		const char *last;
	} t[] = {
		{ GPU_NVIDIA, "", 0, 0, NULL }, { GPU_NVIDIA, "-1", 0, 0, NULL }, { GPU_AMD, "NoDevFiles", 0, 0, NULL },
		{ GPU_NVIDIA, "0", 0, 1, "0" }, { GPU_NVIDIA, "3,1", 0, 2, "1" },
		{ GPU_NVIDIA, "0,GPU-11111111-2222-3333-4444-555555555555", 0, 2, "GPU-11111111-2222-3333-4444-555555555555" },
		{ GPU_NVIDIA, "MIG-11111111-2222-3333-4444-555555555555", 0, 1, "MIG-11111111-2222-3333-4444-555555555555" },
		{ GPU_AMD, "GPU-1111222233334444", 0, 1, "0x1111222233334444" },
		{ GPU_AMD, "GPU-111122223333444", -1, 0, NULL }, { GPU_AMD, "GPU-11112222333344445", -1, 0, NULL },
		{ GPU_NVIDIA, "GPU-1111222233334444", -1, 0, NULL }, { GPU_AMD, "GPU-11111111-2222-3333-4444-555555555555", -1, 0,
		    NULL },
		{ GPU_NVIDIA, ",", -1, 0, NULL }, { GPU_NVIDIA, "0,", -1, 0, NULL }, { GPU_NVIDIA, "all", -1, 0, NULL },
		{ GPU_NVIDIA, "00", -1, 0, NULL }, { GPU_NVIDIA, "4096", -1, 0, NULL }, { GPU_NVIDIA, "0000:3b:00.0", -1, 0, NULL },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autoask struct ask a = { 0 };
		const struct gpu_bound *b = &a.bound[t[i].vendor];

		is_int(ask_bound(&a, t[i].vendor, t[i].text, &why), t[i].ret, "a bound, \"%s\"", t[i].text);
		ok(b->set && (t[i].ret == -1 || b->names.n == t[i].n), "  is one");
		if (t[i].last != NULL && b->names.n > 0)
			is_str(b->names.v[b->names.n - 1], t[i].last, "  by this name");
	}
	for (i = 0; i < GPU_VENDORS; i++) {
		autoask struct ask a = { 0 };

		ok(ask_bound(&a, (enum gpu_vendor)i, NULL, &why) == 0 && !a.bound[i].set, "no word of it is no bound");
	}
}

#define GPUS_WHY " is no count (1 to 64), VENDOR:COUNT, \"all\", \"none\", UUID, PCI address or CDI device"

static void
test_ask_refused(void)
{
	static const struct {
		const char *gpus, *folders, *why;
	} t[] = {
		{ "", NULL, "GPUHELPER_GPUS is empty or has an empty entry: say \"none\" for none" },
		{ ",", NULL, "GPUHELPER_GPUS is empty or has an empty entry: say \"none\" for none" },
		{ "1,", NULL, "GPUHELPER_GPUS is empty or has an empty entry: say \"none\" for none" },
		{ ",1", NULL, "GPUHELPER_GPUS is empty or has an empty entry: say \"none\" for none" },
		{ "1,,2", NULL, "GPUHELPER_GPUS is empty or has an empty entry: say \"none\" for none" },
		{ "0", NULL, "GPUHELPER_GPUS: \"0\"" GPUS_WHY },
		{ "65", NULL, "GPUHELPER_GPUS: \"65\"" GPUS_WHY },
		{ "01", NULL, "GPUHELPER_GPUS: \"01\"" GPUS_WHY },
		{ "-1", NULL, "GPUHELPER_GPUS: \"-1\"" GPUS_WHY },
		{ "1 ", NULL, "GPUHELPER_GPUS: \"1 \"" GPUS_WHY },
		{ " all", NULL, "GPUHELPER_GPUS: \" all\"" GPUS_WHY },
		{ "ALL", NULL, "GPUHELPER_GPUS: \"ALL\"" GPUS_WHY },
		{ "1,none", NULL, "GPUHELPER_GPUS: \"none\"" GPUS_WHY },
		{ "4294967297", NULL, "GPUHELPER_GPUS: \"4294967297\"" GPUS_WHY },
		{ "amd", NULL, "GPUHELPER_GPUS: \"amd\"" GPUS_WHY },
		{ "amd:", NULL, "GPUHELPER_GPUS: \"amd:\"" GPUS_WHY },
		{ "amd:0", NULL, "GPUHELPER_GPUS: \"amd:0\"" GPUS_WHY },
		{ "AMD:1", NULL, "GPUHELPER_GPUS: \"AMD:1\"" GPUS_WHY },
		{ "amd:all", NULL, "GPUHELPER_GPUS: \"amd:all\"" GPUS_WHY },
		{ "nvidia:GPU-1", NULL, "GPUHELPER_GPUS: \"nvidia:GPU-1\"" GPUS_WHY },
		{ "averyveryverylongvendor:1", NULL, "GPUHELPER_GPUS: \"averyveryverylongvendor:1\"" GPUS_WHY },
		{ "sixteen-letters-:1", NULL, "GPUHELPER_GPUS: \"sixteen-letters-:1\"" GPUS_WHY },
		{ ":1", NULL, "GPUHELPER_GPUS: \":1\"" GPUS_WHY },
		{ "gpu-1", NULL, "GPUHELPER_GPUS: \"gpu-1\"" GPUS_WHY },
		{ "0000:3b:00.8", NULL, "GPUHELPER_GPUS: \"0000:3b:00.8\"" GPUS_WHY },
		{ "1,all", NULL, "GPUHELPER_GPUS: \"all\" stands alone" },
		{ "all,GPU-1", NULL, "GPUHELPER_GPUS: \"all\" stands alone" },
		{ "GPU-1,GPU-1", NULL, "GPUHELPER_GPUS names \"GPU-1\" twice" },
		{ "1,1,1,1,1,1,1,1", NULL, "GPUHELPER_GPUS has too many counts" },
		{ NULL, "", "GPUHELPER_FOLDERS is empty or has an empty entry: say \"none\" for none" },
		{ NULL, "/srv/a,", "GPUHELPER_FOLDERS is empty or has an empty entry: say \"none\" for none" },
		{ NULL, "srv", "GPUHELPER_FOLDERS: path \"srv\" is not absolute" },
		{ NULL, "none,/srv/a", "GPUHELPER_FOLDERS: path \"none\" is not absolute" },
		{ NULL, ":ro", "GPUHELPER_FOLDERS: path \"\" is not absolute" },
		{ NULL, "/srv/../etc", "GPUHELPER_FOLDERS: path \"/srv/../etc\" has a \".\" or \"..\" in it" },
		{ NULL, "/srv/", "GPUHELPER_FOLDERS: path \"/srv/\" has an empty component or ends with \"/\"" },
		{ NULL, "/srv//a:rw", "GPUHELPER_FOLDERS: path \"/srv//a\" has an empty component or ends with \"/\"" },
		{ NULL, "/srv/*", "GPUHELPER_FOLDERS: * and ? are not for asking" },
		{ NULL, "/srv/a?:ro", "GPUHELPER_FOLDERS: * and ? are not for asking" },
		{ NULL, "/srv/a\n", "GPUHELPER_FOLDERS: path \"/srv/a?\" has a control byte in it" },
		{ NULL, "all,/srv/a", "GPUHELPER_FOLDERS: \"all\" stands alone" },
		{ NULL, "/srv/a,all", "GPUHELPER_FOLDERS: \"all\" stands alone" },
		{ "x", "/srv/a", "GPUHELPER_GPUS: \"x\"" GPUS_WHY },
	};
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autoask struct ask a = { 0 };

		why = (struct why){ 0 };
		is_int(ask_parse(t[i].gpus, t[i].folders, &a, &why), -1, "refused: %s and %s", t[i].gpus ? t[i].gpus :
		    "-",
		    t[i].folders ? t[i].folders : "-");
		is_str(why.text, t[i].why, "  which is said");
	}
}

static void
test_ask_many(void)
{
	autobuf struct buf b = { 0 };
	struct why why;
	struct ask a;
	int i;

	for (i = 0; i < 1024; i++)
		buf_printf(&b, "%s/srv/%d", i ? "," : "", i);
	ok(ask_parse(NULL, b.p, &a, &why) == 0 && a.folders == 1024, "1024 folders");
	ask_free(&a);
	buf_puts(&b, ",/srv/x");
	ok(ask_parse(NULL, b.p, &a, &why) == -1 && strcmp(why.text, "GPUHELPER_FOLDERS has more than 1024 entries") == 0,
	    "one more is refused");
	ask_free(&a);
}

#if !defined(__SANITIZE_ADDRESS__)
/* Memory that runs out.  (Reading is left out: jansson's own parser gives up with abort().) */

/* Each of these gives a text that says all that was understood, or NULL. */
static const char request_text[] = "{\"verb\":\"grant\",\"id\":\"c1\",\"runtime_root\":\"/r\",\"cgroups_path\":\"/c\","
    "\"systemd_cgroup\":true,\"uids\":[[0,1000,1],[1,2000,65535]],\"gids\":null,\"uid\":0,\"gid\":0,\"groups\":[1,2,3],"
    "\"dac_override\":true,\"privileged\":false,\"shut\":[\"" KEY_A "\",\"" KEY_B "\"],\"no_chores\":true,"
    "\"init_path\":\"/tmp/gdn-init-of-a-path-longer-than-a-small-buffer\",\"init_file\":\"8:1:5\","
    "\"token\":\"a.b.c-which-is-longer-than-a-small-buffer\",\"gpus\":\"1\","
    "\"folders\":\"/srv/a:ro\"}";

static char *
encode_request(void)
{
	static struct request r;
	static bool read;
	struct why why;
	long keep = fail_at;

	fail_at = -1;
	if (!read)
		read = request_decode(request_text, strlen(request_text), &r, &why) == 0;
	fail_at = keep;
	return request_encode(&r);
}

static char *
parse_ask(void)
{
	struct ask a;
	struct why why;
	long keep;
	char *out = NULL;

	if (ask_parse("2,amd:1,0000:3b:00.0,GPU-1", "/srv/a:ro,/srv/b,/srv/c:rw", &a, &why) == 0) {
		keep = fail_at;
		fail_at = -1;
		out = describe(&a);
		fail_at = keep;
	}
	ask_free(&a);
	return out;
}

static void
test_memory(void)
{
	starve("a request is written", encode_request);
	starve("an ask is read", parse_ask);
}
#else
static void
test_memory(void)
{
	skip("memory that runs out", "a sanitizer has its own allocator");
}
#endif

int
main(void)
{
	test_minimal();
	test_round_trip();
	test_refused();
	test_init_file();
	test_long();
	test_names();
	test_many();
	test_many_shut();
	test_ask();
	test_bound();
	test_ask_refused();
	test_ask_many();
	test_memory();
	return done_testing();
}
