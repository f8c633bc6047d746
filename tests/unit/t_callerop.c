/*
 * lease/callerop.c: operations are read back as they were written, malformed ones are refused, and the
 * lease's state decides which operations are still to be done.
 */
#include <jansson.h>

#include "base/cleanup.h"
#include "json/strictjson.h"
#include "lease/calleropread.h"
#include "lease/leasefile.h"
#include "lease/leasewants.h"
#include "nomem.h"
#include "tap.h"

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ONE "{\"do\":\"shut\",\"lease\":\"" KEY "\",\"file\":\"" KEY "-0\",\"id\":\"c1\",\"gate\":\"devices/x\",\"cgroups\":[\"a\",\"b/c\"]," \
    "\"nodes\":[[195,0,true],[4294967295,4294967295,false]],\"init\":[2147483647,\"18446744073709551615\"]," \
    "\"by\":[4242,\"99\"]}"

/* The written form, or NULL if the operations cannot be written. */
static char *
written(const struct caller_ops *c)
{
	struct jsonout j = { .next = false };

	caller_ops_write(&j, NULL, c);
	return jsonout_take(&j);
}

static json_t *
packed_anew(const struct caller_ops *c)
{
	autofree char *text = written(c);

	return text != NULL ? json_loads(text, 0, NULL) : NULL;
}

static void
add(struct caller_ops *all, enum op_kind kind, size_t cgroups, uint32_t nodes, const char *lease)
{
	struct caller_op *c = caller_ops_add(all);
	char name[16];
	uint32_t i;

	if (c == NULL)
		return;
	c->kind = kind;
	snprintf(c->lease, sizeof(c->lease), "%s", lease);
	c->file = strdup(KEY "-0-0-0");
	c->id = strdup("c\"1\n\xc3\xa4");
	c->devcgroup = strdup("devices/garden/x");
	c->init = (struct process_id){ 2147483647, UINT64_MAX };
	c->by = (struct process_id){ (pid_t)cgroups, cgroups * 1000000007 };
	for (i = 0; i < cgroups; i++) {
		snprintf(name, sizeof(name), "x/%u", i);
		(void)strlist_add(&c->cgroups, name, SIZE_MAX);
	}
	for (i = 0; i < nodes; i++)
		(void)caller_op_add_node(c, &(struct promised_node){ UINT32_MAX - i, i, i % 2 == 0 });
}

static void
test_round_trip(void)
{
	static const char *const kinds[] = { "shut", "open", "clear", "stop" };
	struct caller_ops all = { 0 }, back;
	struct caller_op *a, *b;
	json_t *j;
	size_t i, k;

	for (i = 0; i < 4; i++)
		add(&all, (enum op_kind)i, i, (uint32_t)(3 - i), i == 0 ? "" : KEY);
	is_int(all.n, 4, "one chore of each kind is added");
	j = packed_anew(&all);
	if (!ok(j != NULL && caller_ops_unpack(j, &back), "the chores are written and read back"))
		return;
	is_int(back.n, 4, "the number of chores is the same");
	for (i = 0; i < 4 && i < back.n; i++) {
		bool same = true;

		a = &all.v[i];
		b = &back.v[i];
		is_str(json_string_value(json_object_get(json_array_get(j, i), "do")), kinds[i],
		    "  the chore's kind is written by its name");
		ok(a->kind == b->kind && strcmp(a->lease, b->lease) == 0 && strcmp(a->file, b->file) == 0 &&
		    strcmp(a->id, b->id) == 0 && strcmp(a->devcgroup, b->devcgroup) == 0 &&
		    process_id_same(&a->init, &b->init),
		    "  the container is the same");
		ok(process_id_same(&a->by, &b->by) && b->by.pid == (pid_t)i,
		    "  the process that gave the chore is the same");
		ok(a->cgroups.n == i && b->cgroups.n == i && a->nodes == 3 - i && b->nodes == 3 - i,
		    "  the number of cgroups and nodes is the same");
		for (k = 0; k < i; k++)
			same = same && strcmp(a->cgroups.v[k], b->cgroups.v[k]) == 0;
		for (k = 0; k < 3 - i; k++)
			same = same && a->node[k].major == b->node[k].major && a->node[k].minor == b->node[k].minor &&
			    a->node[k].allowed == b->node[k].allowed;
		ok(same, "  the cgroups and nodes are the same");
	}
	json_decref(j);
	caller_ops_free(&all);
	caller_ops_free(&back);
	ok(all.v == NULL && all.n == 0, "after chores_free(), the list is empty");
	j = packed_anew(&all);
	ok(j != NULL && json_array_size(j) == 0 && caller_ops_unpack(j, &back) && back.n == 0,
	    "an empty list is written and read back");
	json_decref(j);
	caller_ops_free(&back);
}

/* Reads a list with ONE, and ONE with a member set to a JSON text (NULL: removed). */
static bool
taken(const char *key, const char *value)
{
	json_t *list = json_array(), *j = json_loads(ONE, 0, NULL);
	struct caller_ops c;
	bool ok;

	if (value == NULL)
		json_object_del(j, key);
	else
		json_object_set_new(j, key, json_loads(value, JSON_DECODE_ANY, NULL));
	json_array_append_new(list, json_loads(ONE, 0, NULL));
	json_array_append_new(list, j);
	ok = caller_ops_unpack(list, &c);
	caller_ops_free(&c);
	json_decref(list);
	return ok;
}

static void
test_members(void)
{
	static const char *const keys[] = { "do", "lease", "file", "id", "gate", "cgroups", "nodes", "init",
		"by" };
	static const char *const values[] = { "null", "true", "{}", "-1", "1.5", "[1]", "[null]", "[[]]", "[[\"1\",1]]",
		"{\"0\":[1,1]}", "{\"0\":1,\"1\":\"1\"}", "[]", "[1,1]" };
	static const struct {
		const char *key, *value;
		bool taken;
	} t[] = {
		{ "surprise", "1", true }, { "do", "\"open\"", true }, { "do", "\"clear\"", true }, { "do", "\"stop\"", true },
		{ "do", "\"\"", false }, { "do", "\"Shut\"", false }, { "do", "\"shut \"", false }, { "do", "\"shu\"", false },
		{ "do", "0", false }, { "lease", "\"\"", true }, { "lease", "\"" KEY "0\"", false },
		{ "lease", "\"" KEY KEY "\"", false },
		{ "lease", "1", false }, { "file", "\"\"", true }, { "file", "1", false }, { "id", "\"\"", true }, { "id", "1", false }, { "gate", "\"\"", true },
		{ "gate", "[]", false },
		{ "cgroups", "[]", true }, { "cgroups", "\"a\"", false }, { "cgroups", "[\"a\",1]", false },
		{ "cgroups", "[\"a\",null]", false }, { "cgroups", "{\"0\":\"a\"}", false }, { "nodes", "[]", true },
		{ "nodes", "[[0,0,true]]", true }, { "nodes", "\"\"", false }, { "nodes", "[195,0]", false },
		{ "nodes", "[[195]]", false },
		{ "nodes", "[[195,0]]", false }, { "nodes", "[[195,0,0]]", false }, { "nodes", "[[195,0,true,true]]", false },
		{ "nodes", "[[-1,0,true]]", false }, { "nodes", "[[195,-1,true]]", false },
		{ "nodes", "[[4294967296,0,true]]", false }, { "nodes", "[[0,4294967296,true]]", false }, { "nodes", "[[195,\"0\",true]]", false },
		{ "nodes", "[[195,0,true],[1.0,0,true]]", false }, { "nodes", "[[195,0,true],{}]", false }, { "nodes", "[[195,0,true],null]", false },
	};
	static const struct {
		const char *value;
		bool taken;
	} processes[] = {
		{ "[0,\"0\"]", true }, { "[2147483647,\"18446744073709551615\"]", true }, { "[2147483648,\"1\"]", false },
		{ "[4294967296,\"1\"]", false }, { "[4294967297,\"1\"]", false }, { "[-1,\"1\"]", false },
		{ "[1.0,\"1\"]", false }, { "[\"1\",\"1\"]", false }, { "[1,\"\"]", false }, { "[1,\"-1\"]", false },
		{ "[1,\"18446744073709551616\"]", false }, { "[1,\" 1\"]", false }, { "[1,\"1 \"]", false },
		{ "[1,\"0x1\"]", false }, { "[1,\"01\"]", false }, { "[1]", false }, { "[1,\"1\",1]", false }, { "1", false },
		{ "[1,null]", false }, { "[null,\"1\"]", false }, { "\"1\"", false },
	};

	size_t i, k;

	ok(taken("surprise", NULL), "a valid chore is accepted: %s", ONE);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		ok(!taken(keys[i], NULL), "a chore without %s is refused", keys[i]);
		for (k = 0; k < sizeof(values) / sizeof(values[0]); k++)
			if (strcmp(values[k], "[]") != 0 || i >= 7)
				ok(!taken(keys[i], values[k]),
				    "a chore with %s: %s is refused", keys[i], values[k]);
	}
	ok(taken("init_start", "1"), "a member that only an earlier version wrote is ignored");
	for (i = 0; i < sizeof(processes) / sizeof(processes[0]); i++)
		for (k = 7; k < 9; k++)
			ok(taken(keys[k], processes[i].value) == processes[i].taken,
			    "%s: a chore with %s: %s",
			    processes[i].taken ?
			    "accepted" : "refused", keys[k], processes[i].value);
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ok(taken(t[i].key, t[i].value) == t[i].taken,
		    "%s: a chore with %s: %s", t[i].taken ? "accepted" : "refused", t[i].key,
		    t[i].value);
}

static void
test_lists(void)
{
	static const char *const bad[] = { "null", "{}", "1", "true", "\"\"", "[1]", "[null]", "[[]]", "[\"shut\"]", "[{}]",
	    ONE,
		"[" ONE ",null]", "[" ONE ",{}]", "[[" ONE "]]" };
	struct caller_ops c;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *j = json_loads(bad[i], JSON_DECODE_ANY, NULL);

		ok(j != NULL && !caller_ops_unpack(j, &c),
		    "a malformed list is refused: %.60s", bad[i]);
		caller_ops_free(&c);
		json_decref(j);
	}
	ok(!caller_ops_unpack(NULL, &c), "a missing list is refused");
	caller_ops_free(&c);
}

/* A list with an operation that cannot be written is not written in part. */
static void
test_unwritable(void)
{
	static const char *const names[] = { "id", "gate", "file", "lease" };
	struct caller_ops c;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *j;

		c = (struct caller_ops){ 0 };
		add(&c, OP_DENY, 1, 1, KEY);
		add(&c, OP_DENY, 1, 1, i == 3 ? "\xff" : KEY);
		if (i < 3) {
			char **text = i == 0 ? &c.v[1].id : i == 1 ? &c.v[1].devcgroup : &c.v[1].file;

			free(*text);
			*text = strdup("caf\xe9");
		}
		ok((j = packed_anew(&c)) == NULL,
		    "a list with a chore whose %s is not UTF-8 is not written", names[i]);
		json_decref(j);
		caller_ops_free(&c);
	}
}

/*
 * Which operations are still to be done: all kinds in all states, with several processes that change the lease, and with the lease's own
 * rules or others. The same pid with another start time is another process, and so is another pid with the same start
 * time.
 */
static const struct process_id nobody, me = { 7, 8 }, others[] = { { 7, 9 }, { 9, 8 }, { 8, 7 } };

/* Rules: the lease's, and those that differ from them in one member. */
static const struct promised_node rules[][2] = {
	{ { 195, 0, true }, { 195, 1, false } }, { { 195, 0, false }, { 195, 1, false } }, { { 195, 0, true }, { 195, 1, true } },
	{ { 195, 0, true }, { 195, 2, false } }, { { 196, 0, true }, { 195, 1, false } },
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

struct case_of {
	enum op_kind kind;
	enum lease_state state;
	struct process_id by, changer;
	size_t rules, nodes;
};

/* Written from callerop.h, leasefile.h and leasetasks.h, not from the code under test. */
static bool
may_stand(const struct case_of *c)
{
	/* what is opened must be what the lease says now */
	if (c->kind == OP_ALLOW)
		return c->state == LEASE_HELD && c->rules == 0 && c->nodes == 2;
	/* no process gives back what was only promised; its container can only be closed again */
	if (c->by.pid == 0)
		return c->kind == OP_DENY && c->state == LEASE_PROMISED;
	return c->state == LEASE_REVOKING && c->changer.pid == c->by.pid && c->changer.start == c->by.start;
}

/* An operation for another process or device cgroup than the lease's, or an end that the settings do not want. */
static bool
wants_others(struct lease *l, const struct caller_op *c)
{
	static char other[] = "devices/other";
	struct caller_op changed = *c;

	changed.devcgroup = other;
	if (lease_wants(l, &changed))
		return true;
	changed.devcgroup = NULL;
	if (lease_wants(l, &changed))
		return true;
	changed = *c;
	changed.init = others[1];
	if (lease_wants(l, &changed))
		return true;
	l->tasks.idle = IDLE_GIVE_BACK;
	return c->kind == OP_STOP && lease_wants(l, c);
}

static bool
is_wrong(const struct case_of *c)
{
	static char devcgroup[] = "devices/c";
	struct promised_node of_lease[2], of_op[2];
	const struct caller_op op = { .kind = c->kind, .by = c->by, .node = of_op, .nodes = c->nodes, .devcgroup = devcgroup,
		.init = others[0] };
	struct lease l = { .state = c->state, .gpus_by_task = true, .container.init = others[0],
		.tasks = { .devcgroup = devcgroup, .idle = IDLE_STOP, .changer = c->changer, .node = of_lease, .nodes = 2 } };

	memcpy(of_lease, rules[0], sizeof(of_lease));
	memcpy(of_op, rules[c->rules], sizeof(of_op));
	if (lease_wants(&l, &op) != may_stand(c) || wants_others(&l, &op))
		return true;
	/* a container that was promised nothing has no operations */
	l.gpus_by_task = false;
	return lease_wants(&l, &op);
}

static void
test_stands(void)
{
	const struct process_id who[] = { me, others[0], others[1], others[2], nobody };
	unsigned kind, state, by, changer, yes = 0, wrong = 0, all = 0;
	size_t r, nodes;
	struct case_of c;

	for (kind = OP_DENY; kind <= OP_STOP; kind++)
		for (state = LEASE_HELD; state <= LEASE_LEAKED; state++)
			for (by = 0; by < 5; by++)
				for (changer = 0; changer < 5; changer++)
					for (r = 0; r < RULES; r++)
						for (nodes = 0; nodes <= 2; nodes++) {
							c = (struct case_of){ (enum op_kind)kind, (enum lease_state)state, who[by], who[changer], r, nodes };
							all++;
							yes += may_stand(&c);
							wrong += is_wrong(&c);
						}
	ok(yes > 250 && yes < all / 4, "%u of %u chores are still to be done", yes, all);
	is_int(wrong, 0, "no other chore is still to be done");
}

#if !defined(__SANITIZE_ADDRESS__)
/* The two functions return a text of the whole sample, or NULL. */

static struct caller_ops sample;
static json_t *packed;

static char *
write_ops(void)
{
	return written(&sample);
}

static char *
read_ops(void)
{
	struct caller_ops c;
	char *text = NULL;
	long keep;

	if (caller_ops_unpack(packed, &c)) {
		keep = fail_at;
		fail_at = -1;
		text = written(&c);
		fail_at = keep;
	}
	caller_ops_free(&c);
	return text;
}

static void
test_memory(void)
{
	json_object_seed(1);
	add(&sample, OP_CLEAR, 12, 12, KEY);
	add(&sample, OP_ALLOW, 1, 2, KEY);
	add(&sample, OP_STOP, 0, 0, "");
	packed = packed_anew(&sample);
	starve("chores are written", write_ops);
	starve("chores are read", read_ops);
	json_decref(packed);
	caller_ops_free(&sample);
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
	test_round_trip();
	test_members();
	test_lists();
	test_unwritable();
	test_stands();
	test_memory();
	return done_testing();
}
