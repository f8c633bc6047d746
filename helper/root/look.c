/*
 * VERB_LOOK, VERB_RELEASE, VERB_REAPPLY: leases that are there are looked at, by
 * root all, by a user his own, or the one that he releases.  Whoever asks only
 * prompts that: what is over, and what is done to the nodes of what is not, is seen
 * in the kernel and in the leases.
 */
#include <time.h>
#include <unistd.h>

#include "acts.h"
#include "audit.h"
#include "grant.h"
#include "idle.h"
#include "leaseend.h"
#include "leaselist.h"
#include "owncgroup.h"
#include "rate.h"

/* What is to be done with the leases that live on. */
typedef int after_look(const struct peer *p, const struct request *r, int audit, struct leases *ls,
    struct reply *reply);

static void
look_and(after_look *after, const struct concern *c, const struct peer *p, const struct request *r, struct reply *reply)
{
	struct leases ls = { .dir = -1, .lock = -1, .line = -1 };
	int audit;

	*reply = (struct reply){ .kind = REPLY_NOTED };
	if ((audit = audit_open(&reply->why)) == -1 || leave_cgroup(p->starter, &reply->why) == -1 ||
	    leases_open(&ls, p->asker.uid, &reply->why) == -1 ||
	    leases_look(&ls, c, audit, &reply->why) == -1 ||
	    after(p, r, audit, &ls, reply) == -1)
		reply->kind = REPLY_REFUSED;
	leases_close(&ls);
	if (audit != -1)
		close(audit);
}

/* At all of a user's, root at all: as often as there is a limit to. */
static void
look_around(after_look *after, bool uncounted, const struct peer *p, const struct request *r, struct reply *reply)
{
	const struct concern c = { .all = p->asker.uid == 0, .of_user = true, .uid = p->asker.uid };

	*reply = (struct reply){ .kind = REPLY_REFUSED };
	if (rate_look(p->asker.uid, time(NULL), uncounted, &reply->why) == 0)
		look_and(after, &c, p, r, reply);
}

/*
 * Root's timer takes back what idle containers have, too: nobody else may ask for
 * long.  And it tells what the log lacks of those who don't come any more.
 */
static int
take_idle(const struct peer *p, const struct request *r, int audit, struct leases *ls, struct reply *reply)
{
	const struct idle idle = { .peer = p, .request = r, .leases = ls, .chores = &reply->chores, .audit = audit };
	bool soon;

	if (p->asker.uid == 0)
		audit_left_out(audit);
	return idle_finish(&idle, NULL, &reply->why) == -1 ? -1 : idle_begin(&idle, NULL, &soon, &reply->why);
}

static int
drain(const struct peer *p, const struct request *r, int audit, struct leases *ls, struct reply *reply)
{
	struct lease *l = leases_find(ls, p->asker.uid, r->runtime_root, r->id);

	if (l == NULL || l->state == LEASE_DRAINING || l->state == LEASE_PASSED_ON || lease_is_given_back(l))
		return 0;
	if (leases_drain(ls, l, &reply->why) == -1)
		return -1;
	(void)audit_lease(audit, "draining", l);
	return 0;
}

static int
allow_again(const struct peer *p, const struct request *r, int audit, struct leases *ls, struct reply *reply)
{
	size_t i;
	int ret = 0;

	(void)r;
	(void)audit;
	for (i = 0; i < ls->n; i++)
		if ((p->asker.uid == 0 || p->asker.uid == ls->v[i]->uid) && !ls->v[i]->over && ls->v[i]->state == LEASE_HELD &&
		    !ls->v[i]->planned && acts_allow(ls, ls->v[i], &reply->why) == -1)
			ret = -1;
	return ret;
}

void
look(const struct peer *p, const struct request *r, struct reply *reply)
{
	look_around(take_idle, true, p, r, reply);
}

void
release(const struct peer *p, const struct request *r, struct reply *reply)
{
	struct concern c = { .all = p->asker.uid == 0 };
	char key[65];

	/* a user's next look takes care of his others: there is no limit to how often containers end */
	lease_key(p->asker.uid, r->runtime_root, r->id, key);
	c.key = key;
	look_and(drain, &c, p, r, reply);
}

void
reapply(const struct peer *p, struct reply *reply)
{
	look_around(allow_again, false, p, NULL, reply);
}
