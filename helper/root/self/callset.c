/* See callset.h. */
#include "callset.h"

#include <stdlib.h>
#include <string.h>

#define JUMP_MAX 255		/* the longest conditional jump, in instructions */
#define GROUP 8			/* cases that a later number skips at once */

void
program_put(struct call_program *p, unsigned code, uint32_t k, unsigned jt, unsigned jf)
{
	if (p->n == CALLSET_PROGRAM_MAX)
		p->full = true;
	else
		p->v[p->n++] = (struct sock_filter){ (unsigned short)code, (unsigned char)jt, (unsigned char)jf, k };
}

void
callset_begin(struct callset *s, long number)
{
	if (s->n == CALLSET_CASES_MAX)
		s->body.full = true;
	else
		s->v[s->n++] = (struct call_case){ .first = (uint32_t)number, .last = (uint32_t)number, .at = s->body.n };
}

void
callset_end(struct callset *s, uint32_t how)
{
	program_put(&s->body, BPF_RET | BPF_K, how, 0, 0);
	if (s->n > 0)
		s->v[s->n - 1].len = (unsigned short)(s->body.n - s->v[s->n - 1].at);
}

/* Sorts by number. Cases of one number keep their order. */
static int
by_number(const void *a, const void *b)
{
	const struct call_case *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static bool
same_body(const struct callset *s, const struct call_case *a, const struct call_case *b)
{
	return a->len == b->len && memcmp(&s->body.v[a->at], &s->body.v[b->at], a->len * sizeof(s->body.v[0])) == 0;
}

/* Drops the later cases of a number, and merges neighbours with equal instructions into one case. */
static void
merge_cases(struct callset *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		struct call_case *last = n > 0 ? &s->v[n - 1] : NULL;

		if (last != NULL && last->last == s->v[i].first)
			continue;
		if (last != NULL && last->last + 1 == s->v[i].first && same_body(s, last, &s->v[i]))
			last->last = s->v[i].first;
		else
			s->v[n++] = s->v[i];
	}
	s->n = n;
}

/* Puts the comparison, which jumps past the case's instructions if the number is another one, then the instructions. */
static void
put_case(const struct callset *s, const struct call_case *c, struct call_program *out)
{
	unsigned short i;

	if (c->first == c->last) {
		program_put(out, BPF_JMP | BPF_JEQ | BPF_K, c->first, 0, c->len);
	} else {
		program_put(out, BPF_JMP | BPF_JGE | BPF_K, c->first, 0, c->len + 1U);
		program_put(out, BPF_JMP | BPF_JGT | BPF_K, c->last, c->len, 0);
	}
	for (i = 0; i < c->len; i++) {
		const struct sock_filter *f = &s->body.v[c->at + i];

		program_put(out, f->code, f->k, f->jt, f->jf);
	}
}

void
callset_compile(struct callset *s, uint32_t otherwise, struct call_program *out)
{
	size_t i, last = 0, past = 0;

	qsort(s->v, s->n, sizeof(s->v[0]), by_number);
	merge_cases(s);
	out->full = out->full || s->body.full;
	/* one conditional jump must reach past a case's instructions */
	for (i = 0; i < s->n; i++)
		if (s->v[i].len >= JUMP_MAX)
			out->full = true;
	if (out->full)
		return;
	/* the kernel runs a new filter once for each call that it knows: without groups, that is most of a filter's cost */
	for (i = 0; i < s->n; i++) {
		if (i % GROUP == 0) {
			last = i + GROUP < s->n ? i + GROUP : s->n;
			program_put(out, BPF_JMP | BPF_JGT | BPF_K, s->v[last - 1].last, 0, 1);
			past = out->n;
			program_put(out, BPF_JMP | BPF_JA, 0, 0, 0);
		}
		put_case(s, &s->v[i], out);
		if (i + 1 < last || out->full)
			continue;
		program_put(out, BPF_RET | BPF_K, otherwise, 0, 0);
		out->v[past].k = (uint32_t)(out->n - past) - 1;
	}
	program_put(out, BPF_RET | BPF_K, otherwise, 0, 0);
}
