/*
 * VERB_CREATED.  Until here a lease only guessed where its container would be;
 * now root sees for itself.  Believes the kernel's word for who is whose child,
 * and in which cgroup, and nothing of the request but the container's name.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host/cgroup.h"
#include "../host/clock.h"
#include "../host/container.h"
#include "grant.h"
#include "lease.h"
#include "owncgroup.h"
#include "ways.h"

/* What it is in by itself; where that is nothing (rootless), the guesses stay. */
static int
find_cgroups(struct lease *l, struct why *why)
{
	struct strlist own = { 0 };
	size_t gate;

	if (!cgroup_own(l->init.pid, &own, &gate)) {
		strlist_free(&own);
		return refuse(why, WHY_IO, "/proc/%d/cgroup: the container's cgroups can't be seen", l->init.pid);
	}
	if (gate != SIZE_MAX && l->pauses && (l->pausing.gate = strdup(own.v[gate])) == NULL) {
		strlist_free(&own);
		return refuse_nomem(why);
	}
	/* nobody's access can be ended where device rules are not its own, nor seen to be where v1 has everything allowed */
	if (gate == SIZE_MAX || !container_is_ruled(own.v[gate]))
		l->pauses = false;
	if (own.n == 0)
		return 0;
	strlist_free(&l->cgroups);
	l->cgroups = own;
	return 0;
}

static int
adopt(const struct peer *p, const struct leases *ls, struct lease *l, struct why *why)
{
	if (!container_find_init(p->pid, getpid(), &l->init))
		return refuse(why, WHY_IO, "container %s: which process is its first one can't be told (is PID %d the one that "
		    "started the runtime?)", l->id, p->pid);
	if (find_cgroups(l, why) == -1)
		return -1;
	ways_settle(l);
	l->pausing.created = clock_ms();
	return leases_write(ls, l, why);
}

void
created(const struct peer *p, const struct request *r, struct reply *reply)
{
	struct leases ls = { .dir = -1, .lock = -1, .line = -1 };
	struct lease *l;
	char key[65];

	*reply = (struct reply){ .kind = REPLY_REFUSED };
	lease_key(p->asker.uid, r->runtime_root, r->id, key);
	if (leave_cgroup(p->starter, &reply->why) == 0 && leases_open(&ls, p->asker.uid, &reply->why) == 0 &&
	    leases_read(&ls, &(struct concern){ .key = key }, &reply->why) == 0) {
		l = leases_find(&ls, p->asker.uid, r->runtime_root, r->id);
		if (l == NULL || l->asker.pid != p->pid || l->asker.start != p->start)
			refuse(&reply->why, WHY_DENIED, "container %s has no lease of this process's", r->id);
		else if (adopt(p, &ls, l, &reply->why) == 0)
			reply->kind = REPLY_NOTED;
	}
	leases_close(&ls);
}
