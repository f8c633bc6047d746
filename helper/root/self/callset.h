/*
 * Compiles a filter of system calls (seccomp(2)): a set of cases, one for each call, becomes a BPF program. filter.c
 * lists the calls, and installs the program.
 */
#ifndef GPUHELPER_ROOT_SELF_CALLSET_H
#define GPUHELPER_ROOT_SELF_CALLSET_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLSET_CASES_MAX 320
#define CALLSET_PROGRAM_MAX 1600

struct call_program {
	struct sock_filter v[CALLSET_PROGRAM_MAX];
	unsigned short n;
	bool full;			/* an instruction did not fit */
};

struct call_case {
	uint32_t first, last;		/* system call numbers */
	unsigned short at, len;		/* of its instructions, in callset.body */
};

struct callset {
	struct call_case v[CALLSET_CASES_MAX];
	size_t n;
	struct call_program body;	/* body.full, also after too many cases: callset_compile() makes no program */
};

/* Appends an instruction to a case of callset.body, or to a program before callset_compile(). */
void program_put(struct call_program *p, unsigned code, uint32_t k, unsigned jt, unsigned jf);

/*
 * Begins the case of this system call number. program_put() adds its instructions to s->body; they may jump among
 * themselves. callset_end() closes the case with «how» (SECCOMP_RET_...) as its last answer. Of two cases of one
 * number, the first one counts.
 */
void callset_begin(struct callset *s, long number);
void callset_end(struct callset *s, uint32_t how);

/*
 * Appends the program to *out: it compares the number, which an earlier instruction must have loaded, with one group of
 * cases after the other, and then with the cases of its group. «otherwise» answers numbers without a case. Sorts the
 * cases. out->full: the program did not fit.
 */
void callset_compile(struct callset *s, uint32_t otherwise, struct call_program *out);

#endif
