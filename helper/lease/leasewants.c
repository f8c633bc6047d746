/* See leasewants.h: only the wrapper asks this. */
#include "leasewants.h"

#include <string.h>

static bool
same_rules(const struct lease_tasks *p, const struct caller_op *c)
{
	size_t i;

	for (i = 0; i < p->nodes && i < c->nodes; i++)
		if (p->node[i].major != c->node[i].major || p->node[i].minor != c->node[i].minor ||
		    p->node[i].allowed != c->node[i].allowed)
			return false;
	return p->nodes == c->nodes;
}

bool
lease_wants(const struct lease *l, const struct caller_op *c)
{
	if (!l->gpus_by_task || !process_id_same(&l->container.init, &c->init) || l->tasks.devcgroup == NULL ||
	    c->devcgroup == NULL || strcmp(l->tasks.devcgroup, c->devcgroup) != 0)
		return false;
	if (c->kind == OP_ALLOW)
		return l->state == LEASE_HELD && same_rules(&l->tasks, c);
	if (c->kind == OP_STOP && l->tasks.idle != IDLE_STOP)
		return false;
	if (c->by.pid == 0 && c->kind != OP_DENY)
		return false;
	/* an operation without c->by closes the nodes of a container that has no GPUs */
	return l->state == (c->by.pid != 0 ? LEASE_REVOKING : LEASE_PROMISED) &&
	    (c->by.pid == 0 || process_id_same(&l->tasks.changer, &c->by));
}
