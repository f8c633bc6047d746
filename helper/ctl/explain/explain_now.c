/* See explain.h: what the helper's leases and queue mean for the container if it came now. */
#include "../../policy/policydecide.h"
#include "explain.h"

#include <unistd.h>

#include "../../base/cleanup.h"
#include "../ctl.h"
#include "../gpus/status.h"
#include "../gpus/waitreasons.h"

/* The container as «status --json» would list it. */
static json_t *
as_waiter(const struct inquiry *q)
{
	const struct identity *id = &q->identity;
	json_t *w = json_object();
	json_int_t gpus = 0;
	size_t i;

	for (i = 0; i < q->decision.grant.gpus; i++)
		gpus += q->decision.grant.gpu[i].count;
	json_object_set_new(w, "gpus", json_integer(gpus));
	put_text(w, "policy", q->decision.policy->name);
	json_object_set_new(w, "priority", json_integer(q->decision.policy->priority));
	if (id->team != NULL && id->pipeline != NULL)
		json_object_set_new(w, "pipeline", json_sprintf("%s/%s", id->team, id->pipeline));
	return w;
}

json_t *
explain_now(const struct inquiry *q)
{
	const bool asks = q->decision.grant.gpus > 0 && !q->options->elsewhere && geteuid() == 0;
	json_t *status = asks ? status_now() : NULL, *w, *why;
	const struct wait_view v = { json_object_get(status, "leases"), json_object_get(status, "waiters"),
		&q->config->policies, true };
	size_t ahead;

	if (status == NULL)
		return NULL;
	w = as_waiter(q);
	why = wait_reasons_of_new(&v, w, q->config->settings.team_shares.n > 0, &ahead);
	json_decref(w);
	json_decref(status);
	return json_pack("{s:I, s:o}", "ahead", (json_int_t)ahead, "why", why);
}
