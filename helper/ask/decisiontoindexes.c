/* See decisionindexes.h: how gpuhelper-judge tells its decision. */
#include <stdlib.h>
#include <string.h>

#include "decisionindexes.h"

/* The index of the policy in the set. */
static size_t
index_of(const struct policy *p, const struct policy_set *s)
{
	size_t i = 0;

	while (i < s->n && &s->v[i].policy != p)
		i++;
	return i;
}

int
indexes_make(const struct decision *d, const struct policy_set *policies, struct decision_indexes *out, struct why *why)
{
	const struct policy *p = d->policy;
	const struct gpu_grant *w;
	const struct folder_grant *f;
	size_t i, k;

	*out = (struct decision_indexes){ .policy = (uint32_t)index_of(p, policies) };
	out->gpus = calloc(d->grant.gpus + 1, sizeof(*out->gpus));
	out->folder = calloc(d->grant.folders + 1, sizeof(*out->folder));
	if (out->gpus == NULL || out->folder == NULL)
		return refuse_nomem(why);
	for (i = 0; i < d->grant.gpus; i++) {
		w = &d->grant.gpu[i];
		out->gpus[i] = (struct gpu_indexes){ .rule = (uint32_t)(w->rule - p->gpu), .count = w->count, .n = w->n };
		for (k = 0; k < w->n; k++)
			out->gpus[i].candidate[k] = (uint32_t)(w->candidate[k] - d->inventory.gpu);
	}
	out->grants = d->grant.gpus;
	for (i = 0; i < d->grant.folders; i++) {
		f = &d->grant.folder[i];
		out->folder[i] = (struct granted_folder){ .rule = (uint32_t)(f->rule - p->folder), .writable = f->writable };
		out->folders++;
		if (strcmp(f->path, f->rule->path) != 0 && (out->folder[i].path = strdup(f->path)) == NULL)
			return refuse_nomem(why);
	}
	return 0;
}
