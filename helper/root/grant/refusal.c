/* See refusal.h. */
#include "refusal.h"

#include "../enter/owncgroup.h"
#include "../log/audit.h"

enum retry
refusal_retry(const struct why *why)
{
	return why->code == WHY_AGAIN ? RETRY_SOON : RETRY_NOT;
}

int
refusal_record(const struct authz *authz, const char *event, const struct why *told, struct why *why)
{
	const struct call *c = authz->call;
	const struct attribution *whose = &authz->whose;
	const struct record rec = { .event = event, CLIENT_OF(c->peer), .request = c->request, .why = told,
		.whose = authz->identified || whose->token_hash[0] != '\0' || whose->team != NULL ? whose : NULL };
	struct why ignored;

	/* if this fails, the refusal stands, but its record is not linked into the log's chain */
	(void)leave_cgroup(c->peer->starter, &ignored);
	return audit_write_counted(c->audit, &rec, told == NULL || told->code == WHY_NONE ? RATE_PLAIN : RATE_REFUSAL, why);
}

void
refusal_answer(const struct authz *authz, struct refusal *f, struct reply *reply)
{
	struct why why;

	reply->why = f->why;
	/* a request that waits for a GPU or for keys is not decided yet, so it is not recorded */
	if (f->retry != RETRY_NOT || (f->why.code == WHY_UNSIGNED && authz->call->request->retry.await_keys)) {
		reply->kind = REPLY_BUSY;
		reply->wait = f->retry == RETRY_SOON ? 0 : authz->decision.grant.wait;
		reply->ahead = (unsigned)f->ahead;
		reply->ops = f->ops;
		f->ops = (struct caller_ops){ 0 };
		return;
	}
	reply->kind = REPLY_REFUSED;
	/* if the record can't be written, the refusal says why, unless the user has used up his share of the log */
	if (refusal_record(authz, "refuse", &f->why, &why) == -1)
		refuse(&reply->why, f->why.code, "%.250s (not in " GPUHELPER_LOGDIR "/audit.jsonl: %.200s)", f->why.text, why.text);
}

void
refusal_free(struct refusal *f)
{
	caller_ops_free(&f->ops);
}
