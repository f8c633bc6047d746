/* See leasesfor.h. Collects GPUs and nodes from the decision, the queue and the picks. */
#include "leasesfor.h"

static void
add_nodes_of(struct lease_query *which, const struct gpu_node *node, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		bloom_add_node(&which->bloom, node[i].major, node[i].minor);
}

static void
add_candidates_of(struct lease_query *which, const struct grant *g)
{
	const struct gpu *candidate;
	size_t i, k;

	for (i = 0; i < g->gpus; i++)
		for (k = 0; k < g->gpu[i].n; k++) {
			candidate = g->gpu[i].candidate[k];
			bloom_add_gpu(&which->bloom, candidate->vendor, candidate->pci);
			/* a lease that has one of these nodes as another GPU's must end if it is over (lease_check_nodes()) */
			add_nodes_of(which, candidate->node, candidate->nodes);
		}
}

static void
add_candidates_before(struct lease_query *which, const struct queue *q, size_t before)
{
	const struct gpu_demand *demand;
	size_t i, w, k;

	for (i = 0; i < before; i++)
		for (w = 0; w < q->v[i].demands; w++)
			for (demand = &q->v[i].demand[w], k = 0; k < demand->candidates; k++)
				bloom_add_gpu(&which->bloom, demand->candidate[k].vendor, demand->candidate[k].pci);
}

/* True if a policy limits how many GPUs its containers hold: then leases of any GPU matter. */
static bool
counts_policies(const struct policy *p, const struct queue *q, size_t before)
{
	size_t i;

	for (i = 0; i < before; i++)
		if (q->v[i].max_gpus != 0)
			return true;
	return p->max_gpus != 0;
}

/* The flags of the leases that lookups_may_add(), label_decide() and used_token_may_add() compare the new one with. */
static unsigned
flags_for(const struct plan *p)
{
	const struct lease *l = &p->lease;
	/* GPUs can bring driver files, which are known only once the GPUs are picked */
	const bool lookups = l->lookups > 0 || p->authz->decision.grant.gpus > 0;

	return (lookups ? LEASE_WRITES : 0) | (lease_writes_as_root(l) ? LEASE_LOOKUPS : 0) |
	    (p->label.state != SELINUX_ABSENT ? LEASE_LABEL : 0) | (l->reuse_hash[0] != '\0' ? LEASE_REUSE : 0);
}

int
leases_for_request(const struct plan *p, struct leases *ls, const struct queue *q, const struct queued *me,
    bool new_lease, struct why *why)
{
	const uint32_t uid = p->authz->call->peer->client.uid;
	struct lease_query which = { .new_lease = new_lease, .uid = uid, .key = p->lease.key };
	const size_t before = queue_before(q, me);

	which.flags = new_lease ? flags_for(p) : 0;
	/* the containers whose device rules, says root's wrapper, deny the nodes now; nobody else may say so */
	which.keys = uid == 0 ? &p->authz->call->request->retry.revoked : NULL;
	add_candidates_of(&which, &p->authz->decision.grant);
	add_candidates_before(&which, q, before);
	which.all = counts_policies(p->authz->decision.policy, q, before) ||
	    (q->n > 0 && p->authz->settings.team_shares.n > 0);
	return leases_read(ls, &which, why);
}

int
leases_for_nodes(const struct plan *p, struct leases *ls, struct why *why)
{
	const struct inventory *inv = &p->authz->decision.inventory;
	struct lease_query which = { 0 };
	const struct gpu *g;
	size_t i;

	for (i = 0; i < p->lease.gpus; i++) {
		g = p->picks[i].gpu;
		add_nodes_of(&which, g->node, g->nodes);
		add_nodes_of(&which, inv->common[g->vendor], inv->commons[g->vendor]);
	}
	add_nodes_of(&which, p->extra_nodes.v, p->extra_nodes.n);
	return leases_read(ls, &which, why);
}
