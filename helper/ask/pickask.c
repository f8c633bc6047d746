/* See pickask.h. */
#include "pickask.h"

#include <stdio.h>
#include <stdlib.h>

static void
held_lines(struct lines *t, struct held_gpu **gpu, size_t *n)
{
	lines_members(t, "has", (void **)gpu, n, SIZE_MAX, sizeof(**gpu), held_gpu_words);
}

static void
holder_lines(struct lines *t, void *member)
{
	struct holder *h = member;

	word_text(t, h->key, sizeof(h->key));
	word_u32(t, &h->uid);
	word_copy(t, &h->id);
	word_copy(t, &h->pipeline);
	word_copy(t, &h->policy);
	word_i64(t, &h->since);
	word_u32(t, &h->counts);
	held_lines(t, &h->gpu, &h->gpus);
}

static void
want_lines(struct lines *t, void *member)
{
	struct pick_want *w = member;

	word_u32(t, &w->count);
	held_lines(t, &w->candidate, &w->candidates);
}

static void
earlier_lines(struct lines *t, void *member)
{
	struct earlier *e = member;

	word_text(t, e->key, sizeof(e->key));
	word_u32(t, &e->uid);
	word_copy(t, &e->id);
	word_copy(t, &e->pipeline);
	word_copy(t, &e->policy);
	word_i64(t, &e->since);
	word_u32(t, &e->max_gpus);
	lines_members(t, "wants", (void **)&e->want, &e->wants, SIZE_MAX, sizeof(*e->want), want_lines);
}

static void
from_words(struct lines *t, void *member)
{
	struct pick_from *f = member;
	uint32_t n = (uint32_t)f->n, i;

	word_u32(t, &n);
	t->failed = t->failed || n > CANDIDATES_MAX;
	for (i = 0; i < n && !t->failed; i++)
		word_u32(t, &f->gpu[i]);
	f->n = t->failed ? 0 : n;
}

/* The number of a process is negative where it only may have the GPU open. */
static void
unleased_words(struct lines *t, void *member)
{
	struct unleased_use *u = member;
	bool surely = u->pid > 0;
	uint32_t pid = (uint32_t)(surely ? u->pid : -u->pid);

	held_gpu_words(t, &u->gpu);
	word_bool(t, &surely);
	word_u32(t, &pid);
	u->pid = surely ? (pid_t)pid : -(pid_t)pid;
}

void
pick_ask_lines(struct lines *t, struct pick_ask *a)
{
	lines_begin(t, "pick");
	word_text(t, a->key, sizeof(a->key));
	word_u32(t, &a->uid);
	word_copy(t, &a->pipeline);
	word_bool(t, &a->task);
	word_u32(t, &a->waited);
	word_copy_or_none(t, &a->drained);
	lines_members(t, "from", (void **)&a->from, &a->wants, GRANT_WANTS_MAX, sizeof(*a->from), from_words);
	lines_members(t, "holder", (void **)&a->holder, &a->holders, SIZE_MAX, sizeof(*a->holder), holder_lines);
	lines_members(t, "earlier", (void **)&a->earlier, &a->before, SIZE_MAX, sizeof(*a->earlier), earlier_lines);
	lines_members(t, "unleased", (void **)&a->unleased.v, &a->unleased.n, SIZE_MAX, sizeof(*a->unleased.v),
	    unleased_words);
}

static void
pick_words(struct lines *t, void *member)
{
	struct pick *p = member;
	uint32_t want = (uint32_t)p->want, candidate = (uint32_t)p->candidate;

	word_u32(t, &want);
	word_u32(t, &candidate);
	*p = (struct pick){ want, candidate };
}

void
pick_answer_lines(struct lines *t, struct pick_answer *a)
{
	lines_begin(t, "picked");
	word_bool(t, &a->picked);
	word_bool(t, &a->in_quota);
	lines_members(t, "takes", (void **)&a->v, &a->n, GPUS_MAX, sizeof(*a->v), pick_words);
}

void
unleased_tell(const struct unleased_use *s, char out[UNLEASED_TEXT])
{
	if (s->pid > 0)
		snprintf(out, UNLEASED_TEXT, "%s is open in process %d, of a container that has no lease of it", s->gpu.pci, s->pid);
	else
		snprintf(out, UNLEASED_TEXT, "%s may be open in process %d of a container, which keeps a file in flight through a "
		    "socket", s->gpu.pci, -s->pid);
}
