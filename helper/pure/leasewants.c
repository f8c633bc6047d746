/* See leasefile.h: only the wrapper asks this. */
#include "leasefile.h"

bool
lease_wants(const struct lease *l, const struct chore *c)
{
	size_t i;

	if (!l->pauses)
		return false;
	if (c->kind != CHORE_OPEN)
		/* a chore without c->by shuts out a container that has given its GPUs back */
		return l->state == (c->by.pid != 0 ? LEASE_GIVING_BACK : LEASE_GIVEN_BACK) &&
		    (c->by.pid == 0 || process_id_same(&l->pausing.giver, &c->by));
	for (i = 0; i < l->pausing.execs; i++)
		if (process_id_same(&l->pausing.exec[i], &c->by))
			return l->state == LEASE_HELD;
	return false;
}
