/* See refusal.h. */
#include "refusal.h"

#include "audit.h"
#include "owncgroup.h"

void
refusal_answer_busy(struct refusal *f, unsigned wait, struct reply *reply)
{
	reply->kind = REPLY_BUSY;
	reply->wait = f->soon ? 0 : wait;
	reply->ahead = (unsigned)f->ahead;
	reply->chores = f->chores;
	f->chores = (struct chores){ 0 };
}

int
refusal_record(const struct ruling *r, const char *event, const struct why *told, struct why *why)
{
	const struct call *c = r->call;
	const struct record rec = { .event = event, ASKED_BY(c->peer), .request = c->request,
		.known = r->identified || r->known.token_hash[0] != '\0' || r->known.id.team != NULL ? &r->known : NULL,
		.why = told };
	struct why ignored;

	/* if this fails, the refusal stands, but its record is not linked into the log's chain */
	(void)leave_cgroup(c->peer->starter, &ignored);
	return audit_count_and_write(c->audit, &rec, told == NULL || told->code == WHY_NONE ? RATE_PLAIN : RATE_REFUSAL, why);
}

void
refusal_free(struct refusal *f)
{
	chores_free(&f->chores);
}
