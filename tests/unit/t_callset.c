/*
 * root/self/callset.h: runs the filter programs in an interpreter of the test's own, and compares the
 * answer for each number with the cases.
 */
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "root/self/callset.h"
#include "tap.h"

#define OTHERWISE 77

/* Runs the program and returns its answer. It knows only the instructions that the filters use. */
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

/* A case that answers «yes» if argument 0 is «value», and «how» otherwise. */
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

/*
 * Compiles random cases with some duplicate numbers, and asks for each number with and without the
 * argument.
 */
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
	ok(all,
	    "each number gets the answer of its first case, and every other number the default "
	    "answer");
	ok(most <= 2 * 25 + 2 * 8 + 5, "a program runs at most two instructions for each of 25 groups, and for each of the "
	    "eight cases in one (%zu)", most);
	for (all = true, i = 0; i < 100; i++)
		all = all && holds((unsigned)i, 60, 40, &far);
	ok(all, "long cases get the same answers");
	ok(holds(1, 0, 0, &most), "a program without cases gives the default answer");

	for (i = 0; i < 4; i++) {
		callset_begin(&s, (long)i + 5);
		callset_end(&s, 1);
	}
	callset_compile(&s, OTHERWISE, &p);
	ok(s.n == 1 && s.v[0].first == 5 && s.v[0].last == 8,
	    "adjacent numbers with the same answer become one case");

	s = (struct callset){ .n = 0 };
	p = (struct call_program){ .n = 0 };
	for (i = 0; i <= CALLSET_CASES_MAX; i++) {
		callset_begin(&s, (long)i);
		callset_end(&s, (uint32_t)i);
	}
	callset_compile(&s, OTHERWISE, &p);
	ok(p.full && p.n == 0, "too many cases give no program");
	s = (struct callset){ .n = 0 };
	p = (struct call_program){ .n = 0 };
	add_arg_case(&s, 1, 1, 1, 1, 300);
	callset_compile(&s, OTHERWISE, &p);
	ok(p.full && p.n == 0, "a case that no jump can cross gives no program");
	return done_testing();
}
