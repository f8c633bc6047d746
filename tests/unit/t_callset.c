/*
 * root/callset.h: runs the filter programs in the test's own interpreter, and compares the result for each number
 * with the cases.
 */
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "root/callset.h"
#include "tap.h"

#define OTHERWISE 77

/* Runs the program and returns its answer; knows only the instructions that filters use. */
static uint32_t
run(const struct call_program *p, const struct seccomp_data *data, size_t *steps)
{
	uint32_t a = (uint32_t)data->nr;
	size_t pc = 0;

	for (*steps = 0; pc < p->n && *steps < 5000; ++*steps) {
		const struct sock_filter *f = &p->v[pc++];
		bool jumps;

		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)data + f->k, sizeof(a));
			continue;
		case BPF_RET | BPF_K:
			return f->k;
		case BPF_JMP | BPF_JA:
			pc += f->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			jumps = a == f->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			jumps = a >= f->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			jumps = a > f->k;
			break;
		default:
			return 0xdead;
		}
		pc += jumps ? f->jt : f->jf;
	}
	return 0xdead;
}

/* A case that answers «yes» if argument 0 is «value», and otherwise «how». */
static void
add_arg_case(struct callset *s, long number, uint32_t value, uint32_t yes, uint32_t how, unsigned padding)
{
	callset_begin(s, number);
	while (padding-- > 0)
		program_put(&s->body, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args), 0, 0);
	program_put(&s->body, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args), 0, 0);
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	program_put(&s->body, BPF_RET | BPF_K, yes, 0, 0);
	callset_end(s, how);
}

struct expect {
	bool there, asks;
	uint32_t value, yes, how;
};

#define NUMBERS 600

/* Random cases with some duplicate numbers; asks for all numbers, with the argument and without. */
static bool
holds(unsigned seed, size_t cases, unsigned padding, size_t *most)
{
	static struct expect e[NUMBERS];
	static struct callset s;
	static struct call_program p;
	struct seccomp_data d = { 0 };
	size_t i, steps;

	srand(seed);
	memset(e, 0, sizeof(e));
	s = (struct callset){ .n = 0 };
	p = (struct call_program){ .n = 0 };
	for (i = 0; i < cases; i++) {
		const uint32_t nr = (uint32_t)rand() % NUMBERS, how = (uint32_t)rand() % 3;
		const bool asks = i % 5 == 0;

		if (asks)
			add_arg_case(&s, nr, nr + 1, 40, how, padding);
		else {
			callset_begin(&s, nr);
			callset_end(&s, how);
		}
		if (!e[nr].there)
			e[nr] = (struct expect){ true, asks, nr + 1, 40, how };
	}
	callset_compile(&s, OTHERWISE, &p);
	if (p.full)
		return false;
	for (i = 0; i < NUMBERS; i++) {
		d.nr = (int)i;
		d.args[0] = 0;
		if (run(&p, &d, &steps) != (e[i].there ? e[i].how : OTHERWISE))
			return false;
		*most = steps > *most ? steps : *most;
		d.args[0] = i + 1;
		if (run(&p, &d, &steps) != (!e[i].there ? OTHERWISE : e[i].asks ? e[i].yes : e[i].how))
			return false;
	}
	d.nr = -1;
	return run(&p, &d, &steps) == OTHERWISE;
}

int
main(void)
{
	static struct callset s;
	static struct call_program p;
	size_t i, most = 0, far = 0;
	bool all = true;

	for (i = 0; i < 300; i++)
		all = all && holds((unsigned)i, i % 200, 0, &most);
	ok(all, "each number is answered as its first case says, and all others alike");
	ok(most <= 30, "a program of 199 cases asks few questions (%zu)", most);
	for (all = true, i = 0; i < 100; i++)
		all = all && holds((unsigned)i, 60, 40, &far);
	ok(all, "also where instructions are further than a conditional jump reaches");
	ok(holds(1, 0, 0, &most), "no case at all");

	for (i = 0; i < 4; i++) {
		callset_begin(&s, (long)i + 5);
		callset_end(&s, 1);
	}
	callset_compile(&s, OTHERWISE, &p);
	ok(s.n == 1 && s.v[0].first == 5 && s.v[0].last == 8, "neighbours with one answer are one case");

	s = (struct callset){ .n = 0 };
	p = (struct call_program){ .n = 0 };
	for (i = 0; i <= CALLSET_CASES_MAX; i++) {
		callset_begin(&s, (long)i);
		callset_end(&s, (uint32_t)i);
	}
	callset_compile(&s, OTHERWISE, &p);
	ok(p.full && p.n == 0, "too many cases make no program");
	s = (struct callset){ .n = 0 };
	p = (struct call_program){ .n = 0 };
	add_arg_case(&s, 1, 1, 1, 1, 300);
	callset_compile(&s, OTHERWISE, &p);
	ok(p.full && p.n == 0, "nor does one that no jump reaches over");
	return done_testing();
}
