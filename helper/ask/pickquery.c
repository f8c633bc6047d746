/* See pickquery.h. */
#include "pickquery.h"

#include <stdio.h>
#include <stdlib.h>

static void
held_lines(struct lines *t, struct leased_gpu **gpu, size_t *n)
{
	lines_members(t, "has", (void **)gpu, n, SIZE_MAX, sizeof(**gpu), leased_gpu_fields);
}

static void
holder_lines(struct lines *t, void *member)
{
	struct holder *h = member;

	field_text(t, h->key, sizeof(h->key));
	field_u32(t, &h->uid);
	field_copy(t, &h->id);
	field_copy(t, &h->pipeline);
	field_copy(t, &h->policy);
	field_i64(t, &h->since);
	field_u32(t, &h->counts);
	held_lines(t, &h->gpu, &h->gpus);
}

static void
demand_lines(struct lines *t, void *member)
{
	struct gpu_demand *w = member;

	field_u32(t, &w->count);
	held_lines(t, &w->candidate, &w->candidates);
}

static void
earlier_lines(struct lines *t, void *member)
{
	struct earlier *e = member;

	field_text(t, e->key, sizeof(e->key));
	field_u32(t, &e->uid);
	field_copy(t, &e->id);
	field_copy(t, &e->pipeline);
	field_copy(t, &e->policy);
	field_i64(t, &e->since);
	field_u32(t, &e->max_gpus);
	lines_members(t, "wants", (void **)&e->demand, &e->demands, SIZE_MAX, sizeof(*e->demand), demand_lines);
}

static void
from_fields(struct lines *t, void *member)
{
	struct pick_from *f = member;
	uint32_t n = (uint32_t)f->n, i;

	field_u32(t, &n);
	t->failed = t->failed || n > CANDIDATES_MAX;
	for (i = 0; i < n && !t->failed; i++)
		field_u32(t, &f->gpu[i]);
	f->n = t->failed ? 0 : n;
}

/* The number of a process is negative where it only may have the GPU open. */
static void
opener_fields(struct lines *t, void *member)
{
	struct gpu_opener *u = member;
	bool surely = u->pid > 0;
	uint32_t pid = (uint32_t)(surely ? u->pid : -u->pid);

	leased_gpu_fields(t, &u->gpu);
	field_bool(t, &surely);
	field_u32(t, &pid);
	u->pid = surely ? (pid_t)pid : -(pid_t)pid;
}

void
pick_query_lines(struct lines *t, struct pick_query *a)
{
	lines_begin(t, "pick");
	field_text(t, a->key, sizeof(a->key));
	field_u32(t, &a->uid);
	field_copy(t, &a->pipeline);
	field_bool(t, &a->task);
	field_u32(t, &a->waited);
	field_copy_or_none(t, &a->drained);
	lines_members(t, "from", (void **)&a->from, &a->demands, GRANT_DEMANDS_MAX, sizeof(*a->from), from_fields);
	lines_members(t, "holder", (void **)&a->holder, &a->holders, SIZE_MAX, sizeof(*a->holder), holder_lines);
	lines_members(t, "earlier", (void **)&a->earlier, &a->before, SIZE_MAX, sizeof(*a->earlier), earlier_lines);
	lines_members(t, "unleased", (void **)&a->openers.v, &a->openers.n, SIZE_MAX, sizeof(*a->openers.v),
	    opener_fields);
}

static void
pick_fields(struct lines *t, void *member)
{
	struct pick *p = member;
	uint32_t demand = (uint32_t)p->demand, candidate = (uint32_t)p->candidate;

	field_u32(t, &demand);
	field_u32(t, &candidate);
	*p = (struct pick){ demand, candidate };
}

void
pick_answer_lines(struct lines *t, struct pick_answer *a)
{
	lines_begin(t, "picked");
	field_bool(t, &a->picked);
	field_bool(t, &a->in_quota);
	lines_members(t, "takes", (void **)&a->v, &a->n, GPUS_MAX, sizeof(*a->v), pick_fields);
}

void
gpu_opener_tell(const struct gpu_opener *s, char out[OPENER_TEXT])
{
	if (s->pid > 0)
		snprintf(out, OPENER_TEXT, "%s is open in process %d, of a container that has no lease of it", s->gpu.pci, s->pid);
	else
		snprintf(out, OPENER_TEXT, "%s may be open in process %d of a container, which keeps a file in flight through a "
		    "socket", s->gpu.pci, -s->pid);
}
