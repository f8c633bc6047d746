/* VERB_REFUSED and VERB_PLAIN: the wrapper decided by itself, and the helper only records that. */
#include "../../host/file.h"
#include "../grant/refusal.h"
#include "../log/audit.h"
#include "verb.h"

void
verb_note(const struct peer *peer, const struct request *r, struct reply *reply)
{
	const struct untrusted *w = &r->untrusted;
	const bool refused = r->verb == VERB_REFUSED, told = refused || r->reason != NULL;
	autoclose int audit = audit_open(&reply->why);
	const struct call call = { peer, r, audit };
	struct authz none = { .call = &call };
	struct why reason;

	reply->kind = REPLY_DONE;
	refuse(&reason, refused ? WHY_DATA : WHY_NONE, "gpuhelper-runc: %s", r->reason != NULL ? r->reason :
	    "(no reason given)");
	/* no judge is asked: the variables are recorded as the task's author wrote them */
	if (w->team != NULL && w->pipeline != NULL)
		none.whose = (struct attribution){ .kind = IDENTITY_CLAIM, .team = w->team, .pipeline = w->pipeline, .job = w->job };
	if (audit == -1 || refusal_record(&none, refused ? "refuse" : "plain", told ? &reason : NULL, &reply->why) != 0)
		reply->kind = REPLY_REFUSED;
}
