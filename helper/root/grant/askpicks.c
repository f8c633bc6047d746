/* See askpicks.h. Lends what leases and queue have to the question. */
#include "askpicks.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../host/gpu/drainedlist.h"
#include "../child/engine.h"

/* Others' names may not go into a refusal of this user's. */
static char nobody[] = "";

static struct holder
holder_of(const struct lease *l, uint32_t uid)
{
	const struct holding h = lease_holding(l);
	struct holder out = { .uid = l->uid, .id = l->uid == uid ? l->id : nobody,
		.pipeline = l->uid == uid ? l->pipeline : nobody, .policy = l->policy, .since = l->since,
		.counts = lease_only_promises(l) ? 0 : (uint32_t)l->gpus, .gpu = (struct leased_gpu *)(uintptr_t)h.gpu,
		.gpus = h.gpus };

	memcpy(out.key, l->key, sizeof(out.key));
	return out;
}

static struct earlier
earlier_of(const struct queued *w, uint32_t uid)
{
	struct earlier out = { .uid = w->uid, .id = w->uid == uid ? w->id : nobody,
		.pipeline = w->uid == uid ? w->pipeline : nobody, .policy = w->policy, .since = w->since,
		.max_gpus = w->max_gpus, .demand = w->demand, .demands = w->demands };

	memcpy(out.key, w->key, sizeof(out.key));
	return out;
}

/* The candidates of each demand, which may be fewer than gpuhelper-engine granted (narrow() in task.c). */
static void
list_candidates(const struct decision *d, struct pick_from *out)
{
	size_t i, k;

	for (i = 0; i < d->grant.gpus; i++)
		for (k = 0; k < d->grant.gpu[i].n; k++)
			out[i].gpu[out[i].n++] = (uint32_t)(d->grant.gpu[i].candidate[k] - d->inventory.gpu);
}

int
ask_picks(const struct plan *p, const struct leases *ls, const struct queue *q, const struct queued *me,
    const struct gpu_openers *openers, struct engine_answer *out, struct why *why)
{
	const struct decision *d = &p->authz->decision;
	const bool task = p->authz->call->request->verb == VERB_TASK;
	const size_t before = queue_before(q, me);
	autofree struct holder *holder = calloc(ls->n + 1, sizeof(*holder));
	autofree struct earlier *earlier = calloc(before + 1, sizeof(*earlier));
	autofree struct pick_from *from = calloc(d->grant.gpus + 1, sizeof(*from));
	autofree char *drained = NULL;
	struct pick_query a = { .uid = p->lease.uid, .pipeline = p->lease.pipeline, .task = task,
		.waited = p->lease.tasks.waited, .from = from, .demands = d->grant.gpus, .holder = holder, .holders = ls->n,
		.earlier = earlier, .before = before, .openers = *openers };
	size_t i, len;

	if (holder == NULL || earlier == NULL || from == NULL)
		return refuse_nomem(why);
	/*
	 * read under the lock, so that an administrator who drains a GPU and then lists the leases sees every lease that still
	 * got it
	 */
	if (drained_text(&drained, &len, why) == -1)
		return -1;
	a.drained = drained;
	memcpy(a.key, me->key, sizeof(a.key));
	for (i = 0; i < ls->n; i++)
		holder[i] = holder_of(ls->v[i], a.uid);
	for (i = 0; i < before; i++)
		earlier[i] = earlier_of(&q->v[i], a.uid);
	list_candidates(d, from);
	return engine_ask_picks(task, &a, &p->authz->call->request->untrusted, &p->edits, out, why);
}
