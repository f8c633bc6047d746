/* See leasefile.h: only the wrapper asks this. */
#include "leasefile.h"

#include <string.h>

static bool
same_rules(const struct pausing *p, const struct chore *c)
{
	size_t i;

	for (i = 0; i < p->nodes && i < c->nodes; i++)
		if (p->node[i].major != c->node[i].major || p->node[i].minor != c->node[i].minor ||
		    p->node[i].open != c->node[i].open)
			return false;
	return p->nodes == c->nodes;
}

bool
lease_wants(const struct lease *l, const struct chore *c)
{
	if (!l->pauses || !process_id_same(&l->container.init, &c->init) || l->pausing.devcgroup == NULL ||
	    c->devcgroup == NULL || strcmp(l->pausing.devcgroup, c->devcgroup) != 0)
		return false;
	if (c->kind == CHORE_OPEN)
		return l->state == LEASE_HELD && same_rules(&l->pausing, c);
	if (c->kind == CHORE_STOP && l->pausing.idle != IDLE_STOP)
		return false;
	if (c->by.pid == 0 && c->kind != CHORE_SHUT)
		return false;
	/* a chore without c->by shuts out a container that has no GPUs */
	return l->state == (c->by.pid != 0 ? LEASE_GIVING_BACK : LEASE_PROMISED) &&
	    (c->by.pid == 0 || process_id_same(&l->pausing.giver, &c->by));
}
