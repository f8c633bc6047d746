/* See concern.h.  Adds up what the decision, the queue and the picks name; touches nothing. */
#include "concern.h"
#include "leaseend.h"

static void
add_nodes(struct concern *c, const struct gpu_node *node, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		marks_add_node(&c->marks, node[i].major, node[i].minor);
}

static void
add_candidates(struct concern *c, const struct grant *g)
{
	const struct gpu *candidate;
	size_t i, k;

	for (i = 0; i < g->gpus; i++)
		for (k = 0; k < g->gpu[i].n; k++) {
			candidate = g->gpu[i].candidate[k];
			marks_add_gpu(&c->marks, candidate->vendor, candidate->pci);
			/* who holds these as another GPU's (allot_check_nodes()) is to be seen over first */
			add_nodes(c, candidate->node, candidate->nodes);
		}
}

static void
add_waiters(struct concern *c, const struct queue *q, size_t before)
{
	const struct pick_want *want;
	size_t i, w, k;

	for (i = 0; i < before; i++)
		for (w = 0; w < q->v[i].wants; w++)
			for (want = &q->v[i].want[w], k = 0; k < want->candidates; k++)
				marks_add_gpu(&c->marks, want->candidate[k].vendor, want->candidate[k].pci);
}

/* What ways_admit() and label_admit() compare with. */
static unsigned
flags_for(const struct work *w)
{
	const struct lease *l = &w->lease;
	/* which of the driver's files come along is known once the GPUs are picked */
	const bool ways = l->ways > 0 || w->decision.grant.gpus > 0;

	return (ways ? LEASE_WRITES : 0) | (lease_writes_as_root(l) ? LEASE_WAYS : 0) |
	    (w->label.state != SELINUX_ABSENT ? LEASE_LABEL : 0);
}

int
concern_look(struct work *w, struct leases *ls, const struct queue *q, bool admits)
{
	const uint32_t uid = w->peer->asker.uid;
	struct concern c = { .admits = admits, .uid = uid, .key = w->lease.key, .flags = admits ? flags_for(w) : 0 };

	/* only root says what it has shut */
	c.keys = uid == 0 ? &w->request->shut : NULL;
	add_candidates(&c, &w->decision.grant);
	add_waiters(&c, q, queue_place(q, w->lease.key));
	return leases_look(ls, &c, w->audit, &w->why);
}

int
concern_read_nodes(struct work *w, struct leases *ls)
{
	const struct inventory *inv = &w->decision.inventory;
	struct concern c = { 0 };
	const struct gpu *g;
	size_t i;

	for (i = 0; i < w->lease.gpus; i++) {
		g = w->picks[i].gpu;
		add_nodes(&c, g->node, g->nodes);
		add_nodes(&c, inv->common[g->vendor], inv->commons[g->vendor]);
	}
	add_nodes(&c, w->more.v, w->more.n);
	return leases_read(ls, &c, &w->why);
}
