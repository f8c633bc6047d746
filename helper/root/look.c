/*
 * VERB_LOOK, VERB_RELEASE, VERB_REAPPLY: leases that are there are looked at.
 * Whoever asks only prompts that: what is over, and what is done to the nodes of
 * what is not, is seen in the kernel and in the leases.
 */
#include <unistd.h>

#include "acts.h"
#include "audit.h"
#include "grant.h"
#include "lease.h"
#include "owncgroup.h"

/* What is to be done with the leases that live on. */
typedef int after_look(const struct peer *p, const struct request *r, int audit, struct leases *ls, struct why *why);

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
	int audit;

	*reply = (struct reply){ .kind = REPLY_NOTED };
	if ((audit = audit_open(&reply->why)) == -1 || leave_cgroup(p->starter, &reply->why) == -1 ||
	    leases_open(&ls, p->asker.uid, ended, &audit, &reply->why) == -1 ||
	    (after != NULL && after(p, r, audit, &ls, &reply->why) == -1))
		reply->kind = REPLY_REFUSED;
	leases_close(&ls);
	if (audit != -1)
		close(audit);
}

static int
drain(const struct peer *p, const struct request *r, int audit, struct leases *ls, struct why *why)
{
	struct lease *l = leases_find(ls, p->asker.uid, r->runtime_root, r->id);

	if (l == NULL || l->draining)
		return 0;
	if (leases_drain(ls, l, why) == -1)
		return -1;
	audit_lease(audit, "draining", l);
	return 0;
}

static int
allow_again(const struct peer *p, const struct request *r, int audit, struct leases *ls, struct why *why)
{
	size_t i;
	int ret = 0;

	(void)r;
	(void)audit;
	for (i = 0; i < ls->n; i++)
		if ((p->asker.uid == 0 || p->asker.uid == ls->v[i].uid) && !ls->v[i].over && !ls->v[i].draining &&
		    acts_allow(ls, &ls->v[i], why) == -1)
			ret = -1;
	return ret;
}

void
look(const struct peer *p, struct reply *reply)
{
	look_and(NULL, p, NULL, reply);
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
