/* root/allot.c: which GPUs with parts a container gets, with the leases and the queue in memory. */
#include <stdio.h>
#include <string.h>

#include "pure/cleanup.h"
#include "root/allot.h"
#include "root/strays.h"
#include "tap.h"

#define MAX 8

/* Two GPUs, the second with three partitions, of which the first cannot be used. */
static struct gpu gpus[] = {
	{ .vendor = GPU_AMD, .pci = "0000:05:00.0", .nodes = 1,
	    .node = { { .path = "/dev/dri/renderD128", .major = 226, .minor = 128 } } },
	{ .vendor = GPU_AMD, .pci = "0000:15:00.0", .unusable = "/dev/dri/renderD129 is a regular file" },
	{ .vendor = GPU_AMD, .pci = "0000:15:00.0", .partition = 1, .nodes = 1,
	    .node = { { .path = "/dev/dri/renderD130", .major = 226, .minor = 130 } } },
	{ .vendor = GPU_AMD, .pci = "0000:15:00.0", .partition = 2, .nodes = 1,
	    .node = { { .path = "/dev/dri/renderD131", .major = 226, .minor = 131 } } },
};

/* A request for «count» of the GPUs [from, to), and its result. */
struct asking {
	struct gpu_rule rule;
	struct gpu_want want;
	struct decision decision;
	struct lease lease;
	struct waiter waiter;
	struct strays strays;
	struct drained drained;
	struct allotted out[MAX];
	struct why why;
};

static void
want(struct asking *a, size_t from, size_t to, unsigned count, enum sharing sharing)
{
	static char nobody[] = "ml/other";

	*a = (struct asking){ .rule = { .vendor = GPU_AMD, .sharing = sharing }, .lease = { .pipeline = nobody } };
	a->want = (struct gpu_want){ .rule = &a->rule, .count = count };
	for (; from < to; from++)
		a->want.candidate[a->want.n++] = &gpus[from];
	a->decision.grant = (struct grant){ .gpu = &a->want, .gpus = 1 };
	a->decision.inventory = (struct inventory){ .gpu = gpus, .gpus = sizeof(gpus) / sizeof(*gpus) };
	snprintf(a->waiter.key, sizeof(a->waiter.key), "%s", "me");
}

static struct identity somebody = { .kind = IDENTITY_CALLER };

/* Allots beside a lease with a GPU (if any), and behind the waiting requests in q. */
static int
ask_beside(struct asking *a, struct lease *l, const struct queue *q)
{
	const struct leases ls = { .v = &l, .n = l->gpu != NULL };
	const struct allot_state state = { &ls, q, &a->strays, &a->drained, &a->decision, &somebody };

	return allot_wants(&a->decision, &a->waiter, &a->why) == -1 ? -1 :
	    allot(&state, &a->lease, &a->waiter, a->out, MAX, &a->why);
}

/* How a holder is named to ml/train and others; an ambiguous name belongs to nobody's team. */
static void
is_named(const struct lease *of)
{
	static char two[] = "ml/a/b", none[] = "";
	const struct identity ml = { .kind = IDENTITY_TOKEN, .team = "ml" }, m = { .kind = IDENTITY_TOKEN, .team = "m" };
	const struct identity mla = { .kind = IDENTITY_TOKEN, .team = "ml/a" };
	struct lease l = *of;

	ok(allot_may_name(&l, l.uid, &ml) && !allot_may_name(&l, l.uid + 1, &ml), "to a team that a token proves: its own");
	ok(!allot_may_name(&l, l.uid, &m), "another one whose name it begins with: no");
	l.pipeline = two;
	ok(!allot_may_name(&l, l.uid, &ml) && !allot_may_name(&l, l.uid, &mla), "of two that it could be neither");
	l.pipeline = none;
	ok(!allot_may_name(&l, l.uid, &ml) && allot_may_name(&l, l.uid, &somebody), "a container of no team: only without a token");
}

/* The same beside a lease of «held». */
static int
ask(struct asking *a, struct held_gpu *held, const struct queue *q)
{
	static char holder[] = "ml/train", id[] = "c1";
	struct lease l = { .id = id, .pipeline = holder, .gpu = held, .gpus = 1 };

	return ask_beside(a, &l, q);
}

static void
done(struct asking *a)
{
	free(a->lease.gpu);
	free(a->lease.node);
	waiter_free(&a->waiter);
}

static struct held_gpu
held(const char *part, bool exclusive)
{
	struct held_gpu h = { .vendor = GPU_AMD, .pci = "0000:15:00.0", .exclusive = exclusive };

	snprintf(h.part, sizeof(h.part), "%s", part);
	return h;
}

static void
test_parts(void)
{
	const struct queue none = { .dir = -1 };
	struct asking a;

	want(&a, 0, 1, 1, SHARING_EXCLUSIVE);
	if (ok(ask(&a, NULL, &none) == 0 && a.lease.gpus == 1, "a GPU without partitions"))
		is_str(a.lease.gpu[0].part, "", "is held whole");
	done(&a);
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	if (ok(ask(&a, NULL, &none) == 0 && a.lease.gpus == 1, "the one partition that a policy names")) {
		is_str(a.lease.gpu[0].part, "1", "is held as what it is");
		is_int(a.lease.nodes, 1, "with its own node");
	}
	done(&a);
	want(&a, 2, 4, 2, SHARING_SHARED);
	if (ok(ask(&a, NULL, &none) == 0 && a.lease.gpus == 2, "both partitions")) {
		is_str(a.lease.gpu[0].part, "1", "are parts,");
		is_str(a.lease.gpu[1].part, "2", "each its own");
	}
	done(&a);
}

static void
test_taken(void)
{
	const struct queue none = { .dir = -1 };
	struct held_gpu h = held("1", true);
	struct asking a;

	want(&a, 2, 4, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &h, &none) == 0 && a.lease.gpus == 1 && a.out[0].gpu == &gpus[3], "one is taken: the other");
	done(&a);
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &h, &none) == -1 && a.why.code == WHY_AGAIN && strstr(a.why.text, "taken by") != NULL,
	    "of one, which is taken: \"%s\"", a.why.text);
	done(&a);
	h = held("", false);
	want(&a, 2, 4, 1, SHARING_SHARED);
	ok(ask(&a, &h, &none) == -1 && a.why.code == WHY_AGAIN && a.lease.gpus == 0,
	    "the whole is held, if shared: no part");
	ok(strstr(a.why.text, "taken by ml/train since ") != NULL, "who holds the whole is in the way: \"%s\"",
	    a.why.text);
	done(&a);
}

/* A GPU is not given if its node is held as another GPU's, because the kernel goes by the node. */
static void
test_same_node(void)
{
	static char holder[] = "ml/train", id[] = "c1";
	const struct queue none = { .dir = -1 };
	struct edit_node nodes[] = { { .major = 195, .minor = 130 }, { .major = 226, .minor = 130 } };
	struct held_gpu h = { .vendor = GPU_AMD, .pci = "0000:25:00.0" };
	struct lease l = { .id = id, .pipeline = holder, .key = "other", .gpu = &h, .gpus = 1, .node = nodes, .nodes = 1 }, *v = &l;
	const struct leases ls = { .v = &v, .n = 1 };
	struct asking a;

	want(&a, 2, 3, 1, SHARING_SHARED);
	ok(ask_beside(&a, &l, &none) == 0 && allot_check_nodes(&ls, &a.lease, a.out, &a.why) == 0, "a node of another number is another one");
	l.nodes = 2;
	ok(allot_check_nodes(&ls, &a.lease, a.out, &a.why) == -1 && a.why.code == WHY_IO, "the same one is not given twice: \"%s\"",
	    a.why.text);
	gpus[2].node[0].shared = true;
	ok(allot_check_nodes(&ls, &a.lease, a.out, &a.why) == -1, "whoever says that parts of a GPU have it together");
	gpus[2].node[0].shared = false;
	gpus[2].node[0].needed_for = GPU_CAP_GRAPHICS;
	ok(allot_check_nodes(&ls, &a.lease, a.out, &a.why) == 0, "but one that the container does not get is nobody's matter");
	gpus[2].node[0].needed_for = 0;
	l.state = LEASE_GIVEN_BACK;
	ok(allot_check_nodes(&ls, &a.lease, a.out, &a.why) == 0, "nor is one in the way of anybody that was given back");
	l.state = LEASE_HELD;
	memcpy(h.pci, gpus[2].pci, sizeof(h.pci));
	memcpy(h.part, "1", 2);
	ok(allot_check_nodes(&ls, &a.lease, a.out, &a.why) == 0, "and who shares the GPU shares its node");
	done(&a);
}

/* A lease holds its GPU until it was given back, and is named only to its own user. */
static void
test_states(void)
{
	static char holder[] = "ml/train", none[] = "", id[] = "c1";
	const struct queue nobody = { .dir = -1 };
	struct held_gpu h = held("1", true);
	struct lease l = { .id = id, .pipeline = holder, .gpu = &h, .gpus = 1 };
	enum lease_state s;
	struct asking a;

	for (s = LEASE_HELD; s <= LEASE_COMING_BACK; s++) {
		l.state = s;
		want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
		is_int(ask_beside(&a, &l, &nobody), s == LEASE_GIVEN_BACK ? 0 : -1, "what is %s", lease_state_name(s));
		is_int(a.lease.gpus, s == LEASE_GIVEN_BACK, "  is free only once it was given back");
		done(&a);
	}
	l.state = LEASE_GIVEN_BACK;
	l.reopened = true;
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask_beside(&a, &l, &nobody) == -1 && a.lease.gpus == 0 && strstr(a.why.text, "taken by ml/train since ") != NULL,
	    "what was given back, and opened again, is not free: \"%s\"", a.why.text);
	done(&a);
	l.reopened = false;
	l.state = LEASE_GIVING_BACK;
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask_beside(&a, &l, &nobody) == -1 && strstr(a.why.text, "taken by ml/train since ") != NULL,
	    "the same user's holder is named: \"%s\"", a.why.text);
	done(&a);
	is_named(&l);
	l.pipeline = none;
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask_beside(&a, &l, &nobody) == -1 && strstr(a.why.text, "taken by c1 since ") != NULL,
	    "without a pipeline by its id: \"%s\"", a.why.text);
	done(&a);
	l.pipeline = holder;
	l.uid = 1;
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask_beside(&a, &l, &nobody) == -1 && strstr(a.why.text, "taken by a container)") != NULL,
	    "another user's is not: \"%s\"", a.why.text);
	done(&a);
}

/* Requests that a stream of others could starve by turns, in parts or as a whole. */
static void
test_waits(void)
{
	struct held_gpu whole = held("", true), first = held("1", true);
	struct pick_want wants = { &whole, 1, 1 };
	struct waiter before = { .key = "before", .want = &wants, .wants = 1 };
	const struct queue q = { .dir = -1, .v = &before, .n = 1 };
	struct asking a;

	want(&a, 3, 4, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &first, &q) == -1 && a.why.code == WHY_AGAIN, "a free part is kept for who waits for the whole");
	ok(strstr(a.why.text, "1 waiting before this one") != NULL, "and this is said: \"%s\"", a.why.text);
	done(&a);
	wants.candidate = &first;
	want(&a, 3, 4, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &first, &q) == 0, "who waits for another part is not in the way");
	done(&a);
	want(&a, 0, 1, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &first, &q) == 0, "nor for another GPU");
	done(&a);
}

/* A request's last try gets what is partly kept for another waiter, unless that one has the rest already. */
static void
test_last(void)
{
	static const struct {
		uint32_t uid, holders;
		const char *pipeline;
		int ret;
		const char *what;
	} t[] = {
		{ 7, 5, "ml/train", 0, "another user does" },
		{ 5, 5, "ml/train", -1, "the one who has it does not" },
		{ 5, 5, "ml/other", -1, "whichever pipeline it is" },
		{ 0, 0, "ml/train", 0, "root's container of another pipeline does" },
		{ 0, 0, "ml/other", -1, "of the same one it does not" },
	};
	static char id[] = "c1";
	struct held_gpu whole = held("", true), first = held("1", true);
	struct pick_want wants = { &whole, 1, 1 };
	/* the waiter came at boot */
	struct waiter both[] = { { .key = "before", .want = &wants, .wants = 1 }, { .key = "me" } };
	const struct queue q = { .dir = -1, .v = both, .n = 2 };
	struct asking a;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autofree char *pipeline = strdup(t[i].pipeline);
		struct lease l = { .id = id, .pipeline = pipeline, .gpu = &first, .gpus = 1, .uid = t[i].holders };

		want(&a, 3, 4, 1, SHARING_EXCLUSIVE);
		a.decision.grant.wait = 1;
		a.lease.uid = t[i].uid;
		ok(ask_beside(&a, &l, &q) == t[i].ret, "at the last, %s", t[i].what);
		done(&a);
	}
}

/* What is kept for a waiter that lacks one more does not include what overlaps with that one. */
static void
test_closed(void)
{
	struct held_gpu some[3] = { held("2", false), held("2:0", true), held("1", true) }, busy = held("1", false);
	struct pick_want wants = { some, 3, 2 };
	struct waiter before = { .key = "before", .want = &wants, .wants = 1 };
	const struct queue q = { .dir = -1, .v = &before, .n = 1 };
	struct asking a;

	want(&a, 2, 3, 1, SHARING_SHARED);
	ok(ask(&a, &busy, &q) == -1, "it is kept closed where it could be had besides");
	done(&a);
	want(&a, 3, 4, 1, SHARING_SHARED);
	ok(ask(&a, &busy, &q) == 0, "and what it would get is kept only as it would hold it");
	done(&a);
}

/* A GPU that is out of service is given to nobody, and waited for by nobody. */
static void
test_drained(void)
{
	struct held_gpu none = { .pci = "" };
	struct drained_gpu first = { .gpu = { .vendor = GPU_AMD, .pci = "0000:05:00.0", .exclusive = true }, .why = "fan" };
	struct drained_gpu part = { .gpu = held("1", true) }, whole = { .gpu = held("", true) };
	const struct queue q = { .dir = -1 };
	struct asking a;

	want(&a, 0, 1, 1, SHARING_SHARED);
	a.want.candidate[a.want.n++] = &gpus[2];
	a.drained = (struct drained){ &first, 1 };
	ok(ask(&a, &none, &q) == 0 && a.out[0].gpu == &gpus[2], "another GPU is taken than the one that is drained");
	done(&a);
	want(&a, 0, 1, 1, SHARING_SHARED);
	a.drained = (struct drained){ &first, 1 };
	ok(ask(&a, &none, &q) == -1 && a.why.code == WHY_DENIED && strstr(a.why.text, "0000:05:00.0 is drained since 1970") != NULL &&
	    strstr(a.why.text, ": fan") != NULL, "who wants that one alone is refused, and told why");
	done(&a);
	want(&a, 2, 4, 2, SHARING_SHARED);
	a.drained = (struct drained){ &part, 1 };
	ok(ask(&a, &none, &q) == -1 && a.why.code == WHY_DENIED, "so is who wants both parts, of which one is drained");
	done(&a);
	want(&a, 2, 4, 1, SHARING_SHARED);
	a.drained = (struct drained){ &part, 1 };
	ok(ask(&a, &none, &q) == 0 && a.out[0].gpu == &gpus[3], "the other part is given");
	done(&a);
	want(&a, 2, 4, 1, SHARING_SHARED);
	a.drained = (struct drained){ &whole, 1 };
	ok(ask(&a, &none, &q) == -1 && a.why.code == WHY_DENIED, "with the whole, all its parts are drained");
	done(&a);
}

int
main(void)
{
	test_parts();
	test_taken();
	test_same_node();
	test_states();
	test_waits();
	test_last();
	test_closed();
	test_drained();
	return done_testing();
}
