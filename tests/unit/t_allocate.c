/*
 * engine/allocate.c: which GPUs and partitions a container gets; root/grant/leasegpus.c: what its lease has of them,
 * and which picks the helper believes. The leases and the queue are in memory.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/allocate.h"
#include "engine/gpuholders.h"
#include "policy/policydecide.h"
#include "root/grant/leasegpus.h"
#include "tap.h"

/* Two GPUs. The second has three partitions, of which the first is unusable. */
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
struct helper_conn {
	struct gpu_rule rule;
	struct gpu_grant want;
	struct decision decision;
	struct lease lease;
	struct queued waiter;
	struct gpu_openers openers;
	struct drained drained;
	struct granted_gpu out[GPUS_MAX];
	struct why why;
};

static void
want(struct helper_conn *a, size_t from, size_t to, unsigned count, enum sharing sharing)
{
	static char nobody[] = "ml/other";

	*a = (struct helper_conn){ .rule = { .vendor = GPU_AMD, .sharing = sharing }, .lease = { .pipeline = nobody } };
	a->want = (struct gpu_grant){ .rule = &a->rule, .count = count };
	for (; from < to; from++)
		a->want.candidate[a->want.n++] = &gpus[from];
	a->decision.grant = (struct grant){ .gpu = &a->want, .gpus = 1 };
	a->decision.inventory = (struct inventory){ .gpu = gpus, .gpus = sizeof(gpus) / sizeof(*gpus) };
	snprintf(a->waiter.key, sizeof(a->waiter.key), "%s", "me");
}

static struct identity somebody = { .kind = IDENTITY_CALLER };

/* What the helper asks about a lease that holds a GPU (if any), and about the waiting requests before this one. */
static struct pick_query
question(const struct helper_conn *a, const struct lease *l, const struct queue *q, struct holder *holder,
    struct earlier *earlier)
{
	static char none[] = "";
	const struct holding h = lease_holding(l);
	struct pick_query out = { .uid = a->lease.uid, .pipeline = a->lease.pipeline, .waited = queue_waited(q, a->waiter.key),
		.holder = holder, .holders = l->gpu != NULL, .earlier = earlier, .before = queue_before(q, &a->waiter),
		.openers = a->openers };
	size_t i;

	*holder = (struct holder){ .uid = l->uid, .id = l->id, .pipeline = l->pipeline, .policy = none, .since = l->since,
		.counts = lease_only_promises(l) ? 0 : (uint32_t)l->gpus, .gpu = (struct leased_gpu *)(uintptr_t)h.gpu,
		.gpus = h.gpus };
	for (i = 0; i < out.before; i++)
		earlier[i] = (struct earlier){ .id = none, .pipeline = none, .policy = none, .demand = q->v[i].demand,
			.demands = q->v[i].demands };
	return out;
}

/* Asks for GPUs beside a lease that holds a GPU (if any), and behind the waiting requests in q. */
static int
ask_beside(struct helper_conn *a, struct lease *l, const struct queue *q)
{
	static struct policy policy;
	struct lease *held = l;
	const struct leases ls = { .v = &held, .n = l->gpu != NULL };
	struct holder holder;
	struct earlier earlier[4];
	const struct pick_query ask = question(a, l, q, &holder, earlier);
	struct pick picks[GPUS_MAX];
	size_t n;

	a->decision.policy = &policy;
	if (grant_demands(&a->decision, &a->waiter.demand, &a->waiter.demands, &a->why) == -1)
		return -1;
	if (allocate_gpus(&(struct allocation){ &ask, &a->decision, a->waiter.demand, a->waiter.demands, &a->drained,
	    &somebody }, picks, &n, &a->why) != 0)
		return -1;
	return lease_take_picks(&ls, &a->decision, &a->waiter, picks, n, &a->lease, a->out, &a->why);
}

/*
 * To whom a lease may be named. A pipeline name that two teams could have belongs to neither team.
 */
static void
is_named(const struct lease *of)
{
	static char two[] = "ml/a/b", none[] = "";
	const struct identity ml = { .kind = IDENTITY_TOKEN, .team = "ml" }, m = { .kind = IDENTITY_TOKEN, .team = "m" };
	const struct identity mla = { .kind = IDENTITY_TOKEN, .team = "ml/a" };
	struct lease l = *of;

	ok(wait_may_name(l.pipeline, l.uid, l.uid, &ml) && !wait_may_name(l.pipeline, l.uid, l.uid + 1, &ml),
	    "a lease is named to its user with a token of its team, and not to another user");
	ok(!wait_may_name(l.pipeline, l.uid, l.uid, &m),
	    "a lease is not named to a team whose name is a prefix of the holder's team");
	l.pipeline = two;
	ok(!wait_may_name(l.pipeline, l.uid, l.uid, &ml) && !wait_may_name(l.pipeline, l.uid, l.uid, &mla),
	    "a lease whose pipeline name could belong to two teams is named to neither");
	l.pipeline = none;
	ok(!wait_may_name(l.pipeline, l.uid, l.uid, &ml) && wait_may_name(l.pipeline, l.uid, l.uid, &somebody),
	    "the lease of a container without a team is named only to a caller without a token");
}

/* The same beside a lease that holds «held». */
static int
ask(struct helper_conn *a, struct leased_gpu *held, const struct queue *q)
{
	static char holder[] = "ml/train", id[] = "c1";
	struct lease l = { .id = id, .pipeline = holder, .gpu = held, .gpus = 1 };

	return ask_beside(a, &l, q);
}

static void
done(struct helper_conn *a)
{
	free(a->lease.gpu);
	free(a->lease.node);
	queued_free(&a->waiter);
}

static struct leased_gpu
held(const char *part, bool exclusive)
{
	struct leased_gpu h = { .vendor = GPU_AMD, .pci = "0000:15:00.0", .exclusive = exclusive };

	snprintf(h.part, sizeof(h.part), "%s", part);
	return h;
}

static void
test_parts(void)
{
	const struct queue none = { .dir = -1 };
	struct helper_conn a;

	want(&a, 0, 1, 1, SHARING_EXCLUSIVE);
	if (ok(ask(&a, NULL, &none) == 0 && a.lease.gpus == 1,
	    "a request for a GPU without partitions gets one GPU"))
		is_str(a.lease.gpu[0].part, "", "a GPU without partitions is held as a whole");
	done(&a);
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	if (ok(ask(&a, NULL, &none) == 0 && a.lease.gpus == 1,
	    "a request for the one partition that the policy names gets it")) {
		is_str(a.lease.gpu[0].part, "1",
		    "the lease holds the partition, not the whole GPU");
		is_int(a.lease.nodes, 1, "the lease has the partition's own node");
	}
	done(&a);
	want(&a, 2, 4, 2, SHARING_SHARED);
	if (ok(ask(&a, NULL, &none) == 0 && a.lease.gpus == 2,
	    "a request for two partitions gets both")) {
		is_str(a.lease.gpu[0].part, "1", "the lease's first part is partition 1");
		is_str(a.lease.gpu[1].part, "2", "the lease's second part is partition 2");
	}
	done(&a);
}

static void
test_taken(void)
{
	const struct queue none = { .dir = -1 };
	struct leased_gpu h = held("1", true);
	struct helper_conn a;

	want(&a, 2, 4, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &h, &none) == 0 && a.lease.gpus == 1 && a.out[0].gpu == &gpus[3],
	    "a request gets the free partition while the other one is taken");
	done(&a);
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &h, &none) == -1 && a.why.code == WHY_AGAIN && strstr(a.why.text, "taken by") != NULL,
	    "a request is refused if its only partition is taken: \"%s\"", a.why.text);
	done(&a);
	h = held("", false);
	want(&a, 2, 4, 1, SHARING_SHARED);
	ok(ask(&a, &h, &none) == -1 && a.why.code == WHY_AGAIN && a.lease.gpus == 0,
	    "no partition is given while another lease holds the whole GPU, even shared");
	ok(strstr(a.why.text, "taken by ml/train in container c1 since ") != NULL,
	    "the refusal names the holder of the whole GPU: \"%s\"",
	    a.why.text);
	done(&a);
}

/*
 * A GPU is not given if another GPU's lease holds its node, because the kernel knows only the node.
 */
static void
test_same_node(void)
{
	static char holder[] = "ml/train", id[] = "c1";
	const struct queue none = { .dir = -1 };
	struct edit_node nodes[] = { { .major = 195, .minor = 130 }, { .major = 226, .minor = 130 } };
	struct leased_gpu h = { .vendor = GPU_AMD, .pci = "0000:25:00.0" };
	struct lease l = { .id = id, .pipeline = holder, .key = "other", .gpu = &h, .gpus = 1, .node = nodes, .nodes = 1 }, *v = &l;
	const struct leases ls = { .v = &v, .n = 1 };
	struct helper_conn a;

	want(&a, 2, 3, 1, SHARING_SHARED);
	ok(ask_beside(&a, &l, &none) == 0 && lease_check_nodes(&ls, &a.lease, a.out, &a.why) == 0,
	    "a node with another device number is no conflict");
	l.nodes = 2;
	ok(lease_check_nodes(&ls, &a.lease, a.out, &a.why) == -1 && a.why.code == WHY_IO,
	    "a node that another GPU's lease holds is not given: \"%s\"",
	    a.why.text);
	gpus[2].node[0].shared = true;
	ok(lease_check_nodes(&ls, &a.lease, a.out, &a.why) == -1,
	    "the node is not given even if the inventory marks it as shared by parts of a GPU");
	gpus[2].node[0].shared = false;
	gpus[2].node[0].needed_for = GPU_CAP_GRAPHICS;
	ok(lease_check_nodes(&ls, &a.lease, a.out, &a.why) == 0,
	    "a node that the container does not get is no conflict");
	gpus[2].node[0].needed_for = 0;
	l.state = LEASE_PROMISED;
	ok(lease_check_nodes(&ls, &a.lease, a.out, &a.why) == 0,
	    "a node of a lease that only promises is no conflict");
	l.state = LEASE_HELD;
	memcpy(h.pci, gpus[2].pci, sizeof(h.pci));
	memcpy(h.part, "1", 2);
	ok(lease_check_nodes(&ls, &a.lease, a.out, &a.why) == 0,
	    "a lease of the same GPU may hold the same node");
	done(&a);
}

/* A lease holds its GPU in every state; a promise has none, and is named only to its own user. */
static void
test_states(void)
{
	static char holder[] = "ml/train", none[] = "", id[] = "c1";
	const struct queue nobody = { .dir = -1 };
	struct leased_gpu h = held("1", true);
	struct lease l = { .id = id, .pipeline = holder, .gpu = &h, .gpus = 1 };
	enum lease_state s;
	struct helper_conn a;

	for (s = LEASE_HELD; s <= LEASE_ACQUIRING; s++) {
		l.state = s;
		l.gpus = s != LEASE_PROMISED;
		want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
		is_int(ask_beside(&a, &l, &nobody), s == LEASE_PROMISED ? 0 : -1,
		    "a request for the GPU of a lease that is %s is granted or refused",
		    lease_state_name(s));
		is_int(a.lease.gpus, s == LEASE_PROMISED,
		    "  the GPU is free only if it was only promised");
		done(&a);
	}
	l.state = LEASE_PROMISED;
	l.gpus = 0;
	l.tasks.promised_gpu = &h;
	l.tasks.promised_gpus = 1;
	l.scan.has_access = true;
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask_beside(&a, &l, &nobody) == -1 && a.lease.gpus == 0 && strstr(a.why.text, "taken by ml/train in container c1 since ") != NULL,
	    "a GPU is not free if it was only promised but the container can open it: \"%s\"",
	    a.why.text);
	done(&a);
	l.gpus = 1;
	l.scan.has_access = false;
	l.state = LEASE_REVOKING;
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask_beside(&a, &l, &nobody) == -1 && strstr(a.why.text, "taken by ml/train in container c1 since ") != NULL,
	    "the refusal names the holder to the same user: \"%s\"", a.why.text);
	done(&a);
	is_named(&l);
	l.pipeline = none;
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask_beside(&a, &l, &nobody) == -1 && strstr(a.why.text, "taken by container c1 since ") != NULL,
	    "the refusal names a holder without a pipeline by its container id: \"%s\"",
	    a.why.text);
	done(&a);
	l.pipeline = holder;
	l.uid = 1;
	want(&a, 2, 3, 1, SHARING_EXCLUSIVE);
	ok(ask_beside(&a, &l, &nobody) == -1 && strstr(a.why.text, "taken by a container)") != NULL,
	    "the refusal does not name another user's holder: \"%s\"", a.why.text);
	done(&a);
}

/* A stream of requests for parts could starve a request for the whole, and the reverse. */
static void
test_waits(void)
{
	struct leased_gpu whole = held("", true), first = held("1", true);
	struct gpu_demand wants = { &whole, 1, 1 };
	struct queued before = { .key = "before", .demand = &wants, .demands = 1 };
	const struct queue q = { .dir = -1, .v = &before, .n = 1 };
	struct helper_conn a;

	want(&a, 3, 4, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &first, &q) == -1 && a.why.code == WHY_AGAIN,
	    "a free partition is kept for a request that waits for the whole GPU");
	ok(strstr(a.why.text, "1 waiting before this one") != NULL,
	    "the refusal counts the requests that wait before this one: \"%s\"", a.why.text);
	done(&a);
	wants.candidate = &first;
	want(&a, 3, 4, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &first, &q) == 0,
	    "a request that waits for another partition does not keep this one");
	done(&a);
	want(&a, 0, 1, 1, SHARING_EXCLUSIVE);
	ok(ask(&a, &first, &q) == 0,
	    "a request that waits for a partition does not keep another GPU");
	done(&a);
}

/*
 * A request's last try gets a GPU that is partly kept for another waiter, unless the request's own
 * user (for root: its own pipeline) holds the rest.
 */
static void
test_last(void)
{
	static const struct {
		uint32_t uid, holders;
		const char *pipeline;
		int ret;
		const char *what;
	} t[] = {
		{ 7, 5, "ml/train", 0, "another user gets it" },
		{ 5, 5, "ml/train", -1, "the user who holds the rest does not get it" },
		{ 5, 5, "ml/other", -1,
		    "the user who holds the rest does not get it for another pipeline" },
		{ 0, 0, "ml/train", 0, "root's container of another pipeline gets it" },
		{ 0, 0, "ml/other", -1, "root's container of the same pipeline does not get it" },
	};
	static char id[] = "c1";
	struct leased_gpu whole = held("", true), first = held("1", true);
	struct gpu_demand wants = { &whole, 1, 1 };
	/* time 0: the waiter has waited since boot */
	struct queued both[] = { { .key = "before", .demand = &wants, .demands = 1 }, { .key = "me" } };
	const struct queue q = { .dir = -1, .v = both, .n = 2 };
	struct helper_conn a;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autofree char *pipeline = strdup(t[i].pipeline);
		struct lease l = { .id = id, .pipeline = pipeline, .gpu = &first, .gpus = 1, .uid = t[i].holders };

		want(&a, 3, 4, 1, SHARING_EXCLUSIVE);
		a.decision.grant.wait = 1;
		a.lease.uid = t[i].uid;
		ok(ask_beside(&a, &l, &q) == t[i].ret, "at the last try, %s", t[i].what);
		done(&a);
	}
}

/*
 * For a waiter that lacks one more GPU, a further candidate is reserved, but none that overlaps
 * with the GPU that the waiter would get.
 */
static void
test_closed(void)
{
	struct leased_gpu some[3] = { held("2", false), held("2:0", true), held("1", true) }, busy = held("1", false);
	struct gpu_demand wants = { some, 3, 2 };
	struct queued before = { .key = "before", .demand = &wants, .demands = 1 };
	const struct queue q = { .dir = -1, .v = &before, .n = 1 };
	struct helper_conn a;

	want(&a, 2, 3, 1, SHARING_SHARED);
	ok(ask(&a, &busy, &q) == -1,
	    "a partition is reserved for the waiter even if it could be shared");
	done(&a);
	want(&a, 3, 4, 1, SHARING_SHARED);
	ok(ask(&a, &busy, &q) == 0,
	    "a partition that the waiter would share may be shared");
	done(&a);
}

/* No request gets a drained GPU, and none waits for it. */
static void
test_drained(void)
{
	struct leased_gpu none = { .pci = "" };
	struct drained_gpu first = { .gpu = { .vendor = GPU_AMD, .pci = "0000:05:00.0", .exclusive = true }, .why = "fan" };
	struct drained_gpu part = { .gpu = held("1", true) }, whole = { .gpu = held("", true) };
	const struct queue q = { .dir = -1 };
	struct helper_conn a;

	want(&a, 0, 1, 1, SHARING_SHARED);
	a.want.candidate[a.want.n++] = &gpus[2];
	a.drained = (struct drained){ &first, 1 };
	ok(ask(&a, &none, &q) == 0 && a.out[0].gpu == &gpus[2],
	    "a request gets another GPU instead of the drained one");
	done(&a);
	want(&a, 0, 1, 1, SHARING_SHARED);
	a.drained = (struct drained){ &first, 1 };
	ok(ask(&a, &none, &q) == -1 && a.why.code == WHY_DENIED && strstr(a.why.text, "0000:05:00.0 is drained since 1970") != NULL &&
	    strstr(a.why.text, ": fan") != NULL,
	    "a request for the drained GPU alone is refused, with the reason of the drain");
	done(&a);
	want(&a, 2, 4, 2, SHARING_SHARED);
	a.drained = (struct drained){ &part, 1 };
	ok(ask(&a, &none, &q) == -1 && a.why.code == WHY_DENIED,
	    "a request for two partitions is refused if one of them is drained");
	done(&a);
	want(&a, 2, 4, 1, SHARING_SHARED);
	a.drained = (struct drained){ &part, 1 };
	ok(ask(&a, &none, &q) == 0 && a.out[0].gpu == &gpus[3],
	    "a request for one partition gets the one that is not drained");
	done(&a);
	want(&a, 2, 4, 1, SHARING_SHARED);
	a.drained = (struct drained){ &whole, 1 };
	ok(ask(&a, &none, &q) == -1 && a.why.code == WHY_DENIED,
	    "every partition of a drained GPU is drained");
	done(&a);
}

/* The helper believes no pick that the request may not get, or that others hold. */
static void
test_evil_picks(void)
{
	static const struct {
		struct pick pick[3];
		size_t n;
		const char *what;
	} t[] = {
		{ { { 0, 0 } }, 1, "fewer GPUs than are wanted" },
		{ { { 0, 0 }, { 0, 1 }, { 0, 2 } }, 3, "more GPUs than are wanted" },
		{ { { 0, 0 }, { 0, 0 } }, 2, "a GPU twice" },
		{ { { 0, 0 }, { 0, 3 } }, 2, "a GPU that is no candidate" },
		{ { { 0, 0 }, { 1, 0 } }, 2, "a GPU by a want that there is not" },
		{ { { 0, 0 }, { 0, 1 } }, 2, "a GPU that another container has exclusively" },
		{ { { 0, 2 }, { 0, 1 } }, 2, "the same, in another order" },
	};
	struct leased_gpu h = held("1", true);
	struct lease l = { .gpu = &h, .gpus = 1 }, *v = &l;
	const struct leases ls = { .v = &v, .n = 1 };
	struct helper_conn a;
	struct pick good[] = { { 0, 0 }, { 0, 2 } };
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		want(&a, 0, 1, 2, SHARING_SHARED);
		a.want.candidate[a.want.n++] = &gpus[2];
		a.want.candidate[a.want.n++] = &gpus[3];
		ok(grant_demands(&a.decision, &a.waiter.demand, &a.waiter.demands, &a.why) == 0 &&
		    lease_take_picks(&ls, &a.decision, &a.waiter, t[i].pick, t[i].n, &a.lease, a.out, &a.why) == -1 &&
		    a.why.code == WHY_BUG && a.lease.gpus == 0, "not believed: %s: \"%s\"", t[i].what, a.why.text);
		done(&a);
	}
	want(&a, 0, 1, 2, SHARING_SHARED);
	a.want.candidate[a.want.n++] = &gpus[2];
	a.want.candidate[a.want.n++] = &gpus[3];
	ok(grant_demands(&a.decision, &a.waiter.demand, &a.waiter.demands, &a.why) == 0 &&
	    lease_take_picks(&ls, &a.decision, &a.waiter, good, 2, &a.lease, a.out, &a.why) == 0 && a.lease.gpus == 2 &&
	    a.out[1].gpu == &gpus[3], "believed: free GPUs of the request");
	done(&a);
}

int
main(void)
{
	test_evil_picks();
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
