/*
 * VERB_LOOK, VERB_RELEASE, VERB_REAPPLY: leases that are there are looked at, by
 * root all, by a user his own.  Whoever asks only prompts that: what is over, and what is done to the nodes of
 * what is not, is seen in the kernel and in the leases.
 */
#include <unistd.h>

#include "acts.h"
#include "audit.h"
#include "grant.h"
#include "idle.h"
#include "lease.h"
#include "owncgroup.h"

/* What is to be done with the leases that live on. */
typedef int after_look(const struct peer *p, const struct request *r, int audit, struct leases *ls,
    struct reply *reply);

static void
ended(void *ctx, const struct lease *l)
{
	const int *audit = ctx;

	audit_lease(*audit, "end", l);
}

static void
look_and(after_look *after, const struct peer *p, const struct request *r, struct reply *reply)
{
	struct leases ls = { .dir = -1, .lock = -1, .line = -1 };
	const struct concern c = { .all = p->asker.uid == 0, .of_user = true, .uid = p->asker.uid };
	int audit;

	*reply = (struct reply){ .kind = REPLY_NOTED };
	if ((audit = audit_open(&reply->why)) == -1 || leave_cgroup(p->starter, &reply->why) == -1 ||
	    leases_open(&ls, p->asker.uid, &reply->why) == -1 ||
	    leases_look(&ls, &c, ended, &audit, &reply->why) == -1 ||
	    after(p, r, audit, &ls, reply) == -1)
		reply->kind = REPLY_REFUSED;
	leases_close(&ls);
	if (audit != -1)
		close(audit);
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

	if (l == NULL || l->state == LEASE_DRAINING || lease_is_given_back(l))
		return 0;
	if (leases_drain(ls, l, &reply->why) == -1)
		return -1;
	audit_lease(audit, "draining", l);
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
	look_and(take_idle, p, r, reply);
}

void
release(const struct peer *p, const struct request *r, struct reply *reply)
{
	look_and(drain, p, r, reply);
}

void
reapply(const struct peer *p, struct reply *reply)
{
	look_and(allow_again, p, NULL, reply);
}
