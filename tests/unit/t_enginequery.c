/*
 * gpuhelper-engine's questions and answers are read back as they were written; which answers the helper accepts
 * (ask/enginequery.h); and which extra nodes it believes, whatever the engine says of them (root/child/extraadd.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ask/enginequery.h"
#include "ask/enginequeryread.h"
#include "base/cleanup.h"
#include "gpu/extranode.h"
#include "rnd.h"
#include "root/child/extraadd.h"
#include "tap.h"

#define GPUS 2

static char *
taken_text(struct lines *t, struct buf *b, size_t *len)
{
	if (!lines_finish(t))
		return NULL;
	*len = b->len;
	return buf_take(b);
}

static char *
ask_text(struct engine_query *a, size_t *len)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	engine_query_lines(&t, a);
	return taken_text(&t, &b, len);
}

static bool
ask_taken(const char *text, size_t len, struct engine_query *a)
{
	struct lines t = { .at = text, .end = text + len };

	*a = (struct engine_query){ .verb = ENGINE_AUTHZ };
	engine_query_lines(&t, a);
	return lines_finish(&t);
}

static char *
answer_text(enum engine_verb verb, bool picks, struct engine_answer *a, size_t *len)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	engine_answer_lines(&t, verb, picks, a);
	return taken_text(&t, &b, len);
}

static bool
answer_taken(enum engine_verb verb, bool picks, const char *text, size_t len, struct engine_answer *a)
{
	struct lines t = { .at = text, .end = text + len };

	*a = (struct engine_answer){ .nodes = 0 };
	engine_answer_lines(&t, verb, picks, a);
	return lines_finish(&t);
}

static void
add_text(struct strlist *l, const char *text)
{
	(void)strlist_add(l, text, SIZE_MAX);
}

/* An answer to ENGINE_EDITS with one of everything. */
static void
make_edits(struct engine_answer *a)
{
	*a = (struct engine_answer){ .node = calloc(1, sizeof(struct gpu_node)), .nodes = 1 };
	a->node[0] = (struct gpu_node){ .path = "/dev/gdrdrv", .major = 242, .minor = 0 };
	add_text(&a->env, "CUDA_VISIBLE_DEVICES=0");
	snprintf(a->line, sizeof(a->line), "GPU 0000:3b:00.0, exclusive");
	add_text(&a->driver.mounted, "/opt/driver/libcuda.so");
	add_text(&a->driver.run, "/opt/driver/hook");
	add_text(&a->driver.specs, "/etc/cdi/nvidia.yaml");
	a->driver.files = strdup("{\"any\":[\"text, unread\"]}");
	a->driver.process = strdup("{\"second\":1}");
}

static void
test_question(void)
{
	struct granted_index granted[2] = { { 1, 7 }, { 0, 2 } }, many[ENGINE_GPUS_MAX + 1] = { { .gpu = 0 } };
	struct edit_mount folder = { .source = (char []){ "/srv/a b" }, .target = (char []){ "/data" } };
	struct engine_query asked = { .verb = ENGINE_EDITS, .granted = granted, .grants = 2, .rocr_bound = true,
		.folder = &folder, .folders = 1 }, back;
	struct engine_query most = { .verb = ENGINE_NODES, .granted = many, .grants = ENGINE_GPUS_MAX };
	size_t len = 0, i, good = 0;
	autofree char *text = ask_text(&asked, &len), *other = NULL, *full = NULL, *over = NULL;

	ok(ask_taken(text, len, &back) && back.verb == ENGINE_EDITS && back.grants == 2 && back.granted[0].gpu == 1 &&
	    back.granted[0].rule == 7 && back.granted[1].rule == 2, "a question is written and read back");
	ok(!back.cuda_bound && back.rocr_bound && back.folders == 1 && strcmp(back.folder[0].source, "/srv/a b") == 0 &&
	    strcmp(back.folder[0].target, "/data") == 0, "  with what the container has already");
	engine_query_free(&back);
	for (i = 0; i < len; i++) {
		good += ask_taken(text, i, &back);
		engine_query_free(&back);
	}
	is_int((long long)good, 0, "no truncated question is accepted");
	other = strdup(text);
	*strstr(other, GPUHELPER_VERSION) = '9';
	ok(!ask_taken(other, len, &back), "a question of another version is refused");
	engine_query_free(&back);
	full = ask_text(&most, &len);
	ok(ask_taken(full, len, &back) && back.grants == ENGINE_GPUS_MAX, "a question about the most GPUs is accepted");
	engine_query_free(&back);
	most.grants++;
	over = ask_text(&most, &len);
	ok(!ask_taken(over, len, &back), "one about another GPU more is refused");
	engine_query_free(&back);
}

/* A question to pick has all that leases and queue say. */
static void
test_pick_question(void)
{
	static char c1[] = "c1", ml[] = "ml/train", policy[] = "10-ml.conf", drained[] = "drained 3\nend\n";
	struct leased_gpu gpu = { .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .part = "1:0", .limit = 2 };
	struct gpu_demand demand = { &gpu, 1, 1 };
	struct holder holder = { .key = "k", .uid = 7, .id = c1, .pipeline = ml, .policy = policy, .since = 9, .counts = 2, .gpu = &gpu,
		.gpus = 1 };
	struct earlier earlier = { .key = "e", .uid = 8, .id = c1, .pipeline = ml, .policy = policy, .max_gpus = 3,
		.demand = &demand, .demands = 1 };
	struct pick_from from[2] = { { { 4, 5 }, 2 }, { { 0 }, 0 } };
	struct gpu_opener use[2] = { { gpu, 77 }, { gpu, -78 } };
	struct engine_query asked = { .verb = ENGINE_EDITS, .picks = true,
		.pick = { .key = "me", .uid = 5, .pipeline = ml, .task = true, .waited = 11, .drained = drained,
		.from = from, .demands = 2, .holder = &holder, .holders = 1, .earlier = &earlier, .before = 1,
		.openers = { use, 2 } } }, back;
	size_t len = 0, i, good = 0;
	autofree char *text = ask_text(&asked, &len);

	ok(ask_taken(text, len, &back) && back.picks && strcmp(back.pick.key, "me") == 0 && back.pick.task && back.pick.waited == 11 &&
	    strcmp(back.pick.drained, drained) == 0 && back.pick.demands == 2 && back.pick.from[0].gpu[1] == 5 &&
	    back.pick.from[1].n == 0, "a question to pick is read back");
	ok(back.pick.holders == 1 && strcmp(back.pick.holder[0].key, "k") == 0 && back.pick.holder[0].counts == 2 &&
	    back.pick.holder[0].gpus == 1 && back.pick.holder[0].gpu[0].limit == 2 && back.pick.before == 1 &&
	    back.pick.earlier[0].max_gpus == 3 && strcmp(back.pick.earlier[0].demand[0].candidate[0].part,
	    "1:0") == 0 && back.pick.openers.v[0].pid == 77 && back.pick.openers.v[1].pid == -78,
	    "  with holders, earlier requests and open GPUs");
	engine_query_free(&back);
	for (i = 0; i < len; i++) {
		good += ask_taken(text, i, &back);
		engine_query_free(&back);
	}
	is_int((long long)good, 0, "  no truncated one is accepted");
}

/* Picks are read even if what comes with them is not known. */
static void
test_pick_answer(void)
{
	struct pick picks[GPUS_MAX + 1] = { { 1, 2 }, { 0, 63 } };
	struct engine_answer a = { .pick = { .picked = true, .in_quota = true, .v = picks, .n = 2 } }, back;
	autofree char *text = NULL, *failed = NULL, *over = NULL;
	size_t len = 0;

	text = answer_text(ENGINE_NODES, true, &a, &len);
	ok(answer_taken(ENGINE_NODES, true, text, len, &back) && back.pick.picked && back.pick.in_quota && back.pick.n == 2 &&
	    back.pick.v[0].demand == 1 && back.pick.v[1].candidate == 63, "picks are read back");
	engine_answer_free(&back);
	ok(!answer_taken(ENGINE_NODES, false, text, len, &back), "  not where none were asked for");
	engine_answer_free(&back);
	refuse(&a.why, WHY_CONFIG, "a node is missing");
	failed = answer_text(ENGINE_NODES, true, &a, &len);
	ok(answer_taken(ENGINE_NODES, true, failed, len, &back) && back.why.code == WHY_CONFIG && back.pick.n == 2,
	    "  so are those of an answer that says why the rest is missing");
	engine_answer_free(&back);
	a.pick.n = GPUS_MAX + 1;
	over = answer_text(ENGINE_NODES, true, &a, &len);
	ok(!answer_taken(ENGINE_NODES, true, over, len, &back), "  more picks than a container may have are refused");
	engine_answer_free(&back);
}

static char *
specs_packed(struct engine_specs *list, const char *bytes, size_t len, size_t *size)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	engine_specs_lines(&t, list);
	return lines_finish(&t) ? pack_with(&b, bytes, len, size) : NULL;
}

static bool
specs_unpacked(const char *message, size_t size, struct engine_specs *s, const char **bytes, size_t *len)
{
	struct lines t;

	*s = (struct engine_specs){ .n = 0 };
	if (!unpack_with(message, size, &t, bytes, len))
		return false;
	engine_specs_lines(&t, s);
	return lines_finish(&t);
}

static void
test_specs(void)
{
	static const char bytes[] = "any\0bytes\nend\n";
	struct engine_spec files[2] = { { .path = (char []){ "/etc/cdi/a b.yaml" }, .dir = 1, .read = true },
	    { .path = (char []){ "/run/cdi/x.json" } } };
	struct engine_specs list = { .v = files, .n = 2 }, back;
	autofree char *packed = NULL, *evil = NULL;
	size_t size = 0, len, i, good = 0, told = 0;
	const char *answer;
	uint64_t head, wrong;

	add_text(&files[1].problems, "is not readable");
	add_text(&list.problems, "/etc/cdi is a file");
	packed = specs_packed(&list, bytes, sizeof(bytes), &size);
	ok(specs_unpacked(packed, size, &back, &answer, &len) && back.n == 2 && strcmp(back.v[0].path, "/etc/cdi/a b.yaml") == 0 &&
	    back.v[0].dir == 1 && back.v[0].read && !back.v[1].read && strcmp(back.v[1].problems.v[0], "is not readable") == 0 &&
	    back.problems.n == 1 && len == sizeof(bytes) && memcmp(answer, bytes, len) == 0,
	    "specs' places and gpuhelper-read's bytes are packed and unpacked");
	engine_specs_free(&back);
	memcpy(&head, packed, sizeof(head));
	for (i = 0; i < sizeof(head) + head; i++) {
		good += specs_unpacked(packed, i, &back, &answer, &len);
		engine_specs_free(&back);
	}
	is_int((long long)good, 0, "  no list is accepted that ends within the places");
	for (; i <= size; i++) {
		told += specs_unpacked(packed, i, &back, &answer, &len) && len == i - sizeof(head) - head;
		engine_specs_free(&back);
	}
	is_int((long long)told, sizeof(bytes) + 1, "  the rest, of any length, is gpuhelper-read's");
	evil = malloc(size);
	memcpy(evil, packed, size);
	for (i = 0, good = 0; i < 64 + size; i++) {
		wrong = i < 64 ? UINT64_C(1) << i : UINT64_MAX - (i - 64);
		memcpy(evil, &wrong, sizeof(wrong));
		good += wrong != head && specs_unpacked(evil, size, &back, &answer, &len);
		if (wrong != head)
			engine_specs_free(&back);
	}
	is_int((long long)good, 0, "  no wrong length of the places is accepted");
	strlist_free(&files[1].problems);
	strlist_free(&list.problems);
}

static void
test_answers(void)
{
	struct engine_answer a, back;
	autofree char *edits = NULL, *no = NULL;
	struct why why = { 0 };
	size_t len = 0, i, good = 0;

	make_edits(&a);
	edits = answer_text(ENGINE_EDITS, false, &a, &len);
	engine_answer_free(&a);
	ok(answer_taken(ENGINE_EDITS, false, edits, len, &back) && engine_answer_check(&back, &why) == 0 && back.nodes == 1 &&
	    back.node[0].major == 242 && back.env.n == 1 &&
	    strcmp(back.line, "GPU 0000:3b:00.0, exclusive") == 0 && back.driver.mounted.n == 1 && back.driver.run.n == 1 &&
	    strcmp(back.driver.run.v[0], "/opt/driver/hook") == 0 && back.driver.specs.n == 1 &&
	    strcmp(back.driver.files, "{\"any\":[\"text, unread\"]}") == 0 &&
	    strcmp(back.driver.process, "{\"second\":1}") == 0, "edits are written and read back %s", why.text);
	engine_answer_free(&back);
	for (i = 0; i < len; i++) {
		good += answer_taken(ENGINE_EDITS, false, edits, i, &back);
		engine_answer_free(&back);
	}
	is_int((long long)good, 0, "no truncated answer is accepted");
	ok(!answer_taken(ENGINE_NODES, false, edits, len, &back), "an answer to another question is refused");
	engine_answer_free(&back);
	a = (struct engine_answer){ .nodes = 0 };
	refuse(&a.why, WHY_CONFIG, "a node is missing");
	no = answer_text(ENGINE_NODES, false, &a, &len);
	ok(answer_taken(ENGINE_NODES, false, no, len, &back) && back.why.code == WHY_CONFIG &&
	    strcmp(back.why.text, "a node is missing") == 0, "a refusal is read back");
	engine_answer_free(&back);
}

struct lie {
	const char *from, *to, *what;
};

/* Each answer with one text changed is refused, by its form or by engine_answer_check(). */
static void
refuse_lies(enum engine_verb verb, const char *text, const struct lie *l, size_t n)
{
	struct engine_answer back;
	struct why why = { 0 };
	bool taken;

	for (; n > 0; l++, n--) {
		const char *at = strstr(text, l->from);
		autobuf struct buf evil = { 0 };

		if (at == NULL) {
			ok(false, "«%s» is found in the answer: %s", l->from, text);
			continue;
		}
		buf_add(&evil, text, (size_t)(at - text));
		buf_puts(&evil, l->to);
		buf_puts(&evil, at + strlen(l->from));
		taken = answer_taken(verb, false, evil.p, evil.len, &back);
		ok(!taken || (engine_answer_check(&back, &why) == -1 && why.code == WHY_BUG &&
		    strstr(why.text, "gpuhelper-engine reports ") != NULL), "refused: %s", l->what);
		engine_answer_free(&back);
	}
}

static void
test_lies_of_edits(void)
{
	static const struct lie lies[] = {
		{ "answer " GPUHELPER_VERSION, "answer 9", "another version" },
		{ "/dev/gdrdrv", "/srv/gdrdrv", "a node outside of /dev" },
		{ "/dev/gdrdrv", "/dev", "/dev itself as a node" },
		{ "/dev/gdrdrv", "/dev/../etc/x", "a node whose path is not clean" },
		{ "/dev/gdrdrv", "/dev/%FF", "a node whose path is not UTF-8" },
		{ "/opt/driver/libcuda.so", "opt/x", "a relative file" },
		{ "/opt/driver/libcuda.so", "-", "an empty file" },
		{ "/opt/driver/libcuda.so", "/opt/../etc/shadow", "a file whose path is not clean" },
		{ "/opt/driver/libcuda.so", "/opt/%FF", "a file that is not UTF-8" },
		{ "/opt/driver/hook", "hook", "a hook's relative path" },
		{ "CUDA_VISIBLE", "%FF", "a variable that is not UTF-8" },
		{ "exclusive", "%FF", "a line for a task that is not UTF-8" },
		{ "any", "%FF", "edits that are not UTF-8" }, { "second", "%FF", "variables that are not UTF-8" }, { "driver ", "driver - ", "edits and more" },
		{ "/etc/cdi/nvidia.yaml", "nvidia.yaml", "a spec's relative path" },
		{ "/etc/cdi/nvidia.yaml", "%FF", "a spec's path that is not UTF-8" },
	};
	struct engine_answer a;
	size_t len = 0;
	autofree char *text = NULL;

	make_edits(&a);
	text = answer_text(ENGINE_EDITS, false, &a, &len);
	engine_answer_free(&a);
	refuse_lies(ENGINE_EDITS, text, lies, sizeof(lies) / sizeof(lies[0]));
}

static struct strlist *
list_of(struct engine_answer *a, unsigned which)
{
	struct strlist *const lists[] = { &a->env, &a->driver.mounted, &a->driver.run, &a->driver.specs };

	return lists[which];
}

/* Whether the helper would take the answer. */
static bool
survives(struct engine_answer *a)
{
	struct engine_answer back;
	size_t len = 0;
	autofree char *text = answer_text(ENGINE_EDITS, false, a, &len);
	const bool taken = answer_taken(ENGINE_EDITS, false, text, len, &back);

	engine_answer_free(&back);
	return taken;
}

/* The helper works through each list while it holds a lock. */
static void
test_longest(void)
{
	static const char *const names[] = { "a task's variables", "mounted files", "hooks", "specs" };
	static const size_t most[] = { DRIVER_WORDS_MAX, DRIVER_MOUNTS_MAX, DRIVER_HOOKS_MAX, DRIVER_WORDS_MAX };
	struct engine_answer a;
	bool whole, over;
	unsigned i;
	size_t k;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		make_edits(&a);
		for (k = list_of(&a, i)->n; k < most[i]; k++)
			add_text(list_of(&a, i), "x");
		whole = survives(&a);
		add_text(list_of(&a, i), "x");
		over = survives(&a);
		ok(whole && !over, "%s: %zu are accepted, and no more", names[i], most[i]);
		engine_answer_free(&a);
	}
}

/* Answers have limits. */
static void
test_most(void)
{
	struct gpu_node node[DRIVER_NODES_MAX + 1];
	struct engine_answer a = { .node = node, .nodes = DRIVER_NODES_MAX }, back;
	autofree char *most = NULL, *over = NULL;
	size_t len = 0, i;

	for (i = 0; i <= DRIVER_NODES_MAX; i++)
		node[i] = (struct gpu_node){ .path = "/dev/x", .minor = (uint32_t)i };
	most = answer_text(ENGINE_NODES, false, &a, &len);
	ok(answer_taken(ENGINE_NODES, false, most, len, &back) && back.nodes == DRIVER_NODES_MAX, "the most nodes are accepted");
	engine_answer_free(&back);
	a.nodes++;
	over = answer_text(ENGINE_NODES, false, &a, &len);
	ok(!answer_taken(ENGINE_NODES, false, over, len, &back), "one node more is refused");
	engine_answer_free(&back);
}

/* Each byte is changed to some others: the answer is refused, or is written back unchanged. */
static void
flip_bytes(enum engine_verb verb, struct engine_answer *a)
{
	struct engine_answer back;
	size_t len = 0, i, again_len, same = 0, taken = 0;
	autofree char *text = answer_text(verb, false, a, &len), *evil = malloc(len + 1);
	struct why why;

	engine_answer_free(a);
	for (i = 0; i < 40 * len; i++) {
		memcpy(evil, text, len + 1);
		evil[i % len] = (char)rnd(256);
		if (answer_taken(verb, false, evil, len, &back) && back.why.code == WHY_NONE) {
			autofree char *again = answer_text(verb, false, &back, &again_len);

			taken++;
			same += again != NULL && again_len == len && memcmp(again, evil, len) == 0;
			(void)engine_answer_check(&back, &why);
		}
		engine_answer_free(&back);
	}
	ok(taken > 100 && same == taken, "of %zu answers with a changed byte, %zu are accepted, each written back unchanged",
	    40 * len, taken);
}

static void
test_flipped(void)
{
	struct engine_answer a;

	make_edits(&a);
	flip_bytes(ENGINE_EDITS, &a);
}

/* /dev/null stands for a node of gdrdrv, and /dev/tty for an IMEX channel: the node must be there. */
static struct devmajor drivers[] = { { 195, 'c', "nvidia" }, { 1, 'c', "gdrdrv" }, { 5, 'c', IMEX_DRIVER }, { 10, 'c', "misc" } };

/* Whether a rule gives the node with its GPU. The numbers have no node in this machine's sysfs. */
static bool
is_given(struct gpu_rule rule, const char *path, uint32_t major, uint32_t minor)
{
	struct gpu gpu[GPUS] = { { .pci = "0000:3b:00.0", .node = { { "/dev/nvidia0", 195, 0, .needed_for = 0 } }, .nodes = 1 },
	    { .pci = "0000:af:00.0", .node = { { "/dev/nvidia1", 195, 1, .needed_for = 0 } }, .nodes = 1 } };
	const struct inventory inv = { .gpu = gpu, .gpus = GPUS, .majors = { drivers, sizeof(drivers) / sizeof(drivers[0]) } };
	const struct granted_gpu granted = { &gpu[0], &rule };
	struct gpu_node node = { .major = major, .minor = minor };
	struct extra_nodes out = { .n = 0 };
	struct why why = { 0 };
	int ret;

	snprintf(node.path, sizeof(node.path), "%s", path);
	ret = extra_add(&inv, &granted, 1, &node, &out, &why);
	if (ret == 0)
		return out.n == 1;
	/* true, too, for a refusal that does not say why: a test of a refusal then fails */
	return out.n != 0 || strstr(why.text, path) == NULL ||
	    (why.code == WHY_BUG ? strstr(why.text, "gpuhelper-engine") == NULL : why.code != WHY_ABSENT);
}

static void
test_extra(void)
{
	const struct gpu_rule none = { .kind = (char []){ "nvidia.com/gpu" }, .capabilities = GPU_CAP_COMPUTE };
	struct gpu_rule words = none, five = none, vendor = none, full = none;
	const struct gpu gpu = { .pci = "0000:3b:00.0" };
	const struct inventory inv = { .majors = { drivers, sizeof(drivers) / sizeof(drivers[0]) } };
	struct gpu other = { .pci = "0000:af:00.0", .node = { { "/dev/nvidia1", 1, 3, .needed_for = 0 } }, .nodes = 1 };
	const struct inventory owns = { .gpu = &other, .gpus = 1, .majors = inv.majors };
	const struct granted_gpu granted = { &gpu, &words };
	const struct gpu_node node = { "/dev/null", 1, 3, .needed_for = 0 };
	char dir[] = "/tmp/further.XXXXXX", modeset[64] = "";
	struct extra_nodes out = { .n = DRIVER_NODES_MAX };
	struct why why;

	words.nodes = EXTRA_GDRDRV | EXTRA_IMEX;
	five.nodes = EXTRA_IMEX;
	five.one_channel = true;
	five.channel = 0;
	vendor.kind = NULL;
	vendor.nodes = EXTRA_GDRDRV;
	full.capabilities = GPU_CAP_ALL;
	ok(is_given(words, "/dev/null", 1, 3), "a node by a word of the rule is given");
	ok(!is_given(none, "/dev/null", 1, 3), "  not without the word");
	ok(!is_given(vendor, "/dev/null", 1, 3), "  not by a rule without a CDI kind");
	ok(!is_given(words, "/dev/no-such-node", 1, 3), "  not where no node is: root would make one by that name");
	ok(!is_given(words, "/dev/zero", 1, 3) && !is_given(words, "/dev", 1, 3), "  not where another node or no node is");
	ok(is_given(five, "/dev/tty", 5, 0), "the rule's IMEX channel is given");
	ok(!is_given(five, "/dev/ptmx", 5, 2), "  not another one, whatever its path");
	ok(!is_given(words, "/dev/nvidia1", 195, 1), "another GPU's node is not given");
	ok(!is_given(words, "/dev/gdrdrv", 195, 1), "  nor under another name");
	ok(!is_given(words, "/dev/urandom", 10, 9) && !is_given(full, "/dev/null", 10, 3), "another driver's node is not given, under any name");
	ok(!is_given(words, "/dev/gdrdrv", 8, 0), "a number of no driver is not given");
	if (mkdtemp(dir) != NULL && snprintf(modeset, sizeof(modeset), "%s/modeset", dir) > 0 &&
	    mknod(modeset, S_IFCHR | 0600, makedev(195, NVIDIA_MODESET_MINOR)) == 0)
		ok(!is_given(none, modeset, 195, NVIDIA_MODESET_MINOR) && is_given(full, modeset, 195, NVIDIA_MODESET_MINOR),
		    "nvidia-modeset is given for displays only");
	else
		skip("nvidia-modeset is given for displays only", "this user may make no node");
	(void)unlink(modeset);
	(void)rmdir(dir);
	ok(extra_add(&inv, &granted, 1, &node, &out, &why) == -1 && out.n == DRIVER_NODES_MAX,
	    "one node more than fits is refused");
	out.n = 0;
	ok(extra_add(&inv, &granted, 1, &node, &out, &why) == 0 && out.n == 1, "  the same node is given where there is room");
	ok(extra_add(&owns, &granted, 1, &node, &out, &why) == -1 && out.n == 1,
	    "a GPU's own node is no further node, by whatever name");
}

int
main(void)
{
	test_question();
	test_pick_question();
	test_pick_answer();
	test_specs();
	test_answers();
	test_lies_of_edits();
	test_most();
	test_longest();
	test_flipped();
	test_extra();
	return done_testing();
}
