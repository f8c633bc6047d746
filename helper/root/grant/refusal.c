/* See refusal.h. */
#include "refusal.h"

#include "../enter/owncgroup.h"
#include "../log/audit.h"

enum again
refusal_again(const struct why *why)
{
	return why->code == WHY_AGAIN ? ASK_SOON : ASK_NOT;
}

int
refusal_record(const struct authz *r, const char *event, const struct why *told, struct why *why)
{
	const struct call *c = r->call;
	const struct record rec = { .event = event, CLIENT_OF(c->peer), .request = c->request,
		.origin = r->identified || r->origin.token_hash[0] != '\0' || r->origin.id.team != NULL ? &r->origin : NULL,
		.why = told };
	struct why ignored;

	/* if this fails, the refusal stands, but its record is not linked into the log's chain */
	(void)leave_cgroup(c->peer->starter, &ignored);
	return audit_write_counted(c->audit, &rec, told == NULL || told->code == WHY_NONE ? RATE_PLAIN : RATE_REFUSAL, why);
}

void
refusal_answer(const struct authz *r, struct refusal *f, struct reply *reply)
{
	struct why why;

	reply->why = f->why;
	/* a request that waits for a GPU or for keys is not decided yet, so it is not recorded */
	if (f->again != ASK_NOT || (f->why.code == WHY_UNSIGNED && r->call->request->again.await_keys)) {
		reply->kind = REPLY_BUSY;
		reply->wait = f->again == ASK_SOON ? 0 : r->decision.grant.wait;
		reply->ahead = (unsigned)f->ahead;
		reply->ops = f->ops;
		f->ops = (struct caller_ops){ 0 };
		return;
	}
	reply->kind = REPLY_REFUSED;
	/* if the record can't be written, the refusal says why, unless the user has used up his share of the log */
	if (refusal_record(r, "refuse", &f->why, &why) == -1)
		refuse(&reply->why, f->why.code, "%.250s (not in " GPUHELPER_LOGDIR "/audit.jsonl: %.200s)", f->why.text, why.text);
}

void
refusal_free(struct refusal *f)
{
	caller_ops_free(&f->ops);
}
