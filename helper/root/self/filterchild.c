/*
 * See filterchild.h. The helper does not link this file. Must allow no way to make a file, to execute a program, or,
 * except in the looker, to start a process.
 */
#include "filterchild.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "filterrules.h"

/* Calls of a program that only parses its questions. */
static const long computing[] = {
	SYS_read, SYS_write, SYS_close, SYS_ppoll, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_brk, SYS_munmap, SYS_mremap,
	SYS_madvise, SYS_futex, SYS_getrandom, SYS_clock_gettime, SYS_gettimeofday, SYS_rt_sigreturn, SYS_restart_syscall,
	SYS_exit, SYS_exit_group,
#ifdef SYS_poll
	SYS_poll, SYS_time,
#endif
};

/* Flags of open(2) that make or change a file: no child has them. */
#define CHANGING (O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY))

static void
put_opening(struct callset *s, uint32_t forbidden)
{
	callset_begin(s, SYS_openat);
	rule_need_none_of(s, 2, forbidden, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
#ifdef SYS_open
	callset_begin(s, SYS_open);
	rule_need_none_of(s, 1, forbidden, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
#endif
}

/* fork(3), with nothing shared; and PR_SET_PDEATHSIG, so that the child ends with its parent. */
static void
put_copies(struct callset *s)
{
	callset_begin(s, SYS_clone);
	rule_load(s, ARG_LOW(0));
	program_put(&s->body, BPF_ALU | BPF_AND | BPF_K, ~(uint32_t)(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID), 0, 0);
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, SIGCHLD, 1, 0);
	rule_answer(s, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
	callset_begin(s, SYS_prctl);
	rule_need_equal(s, 0, PR_SET_PDEATHSIG, FILTER_REFUSE);
	callset_end(s, FILTER_ALLOW);
	rule_allow(s, SYS_set_robust_list);
	rule_allow(s, SYS_rt_sigtimedwait);
	rule_allow(s, SYS_getrusage);
}

/* Writing the answer, and installing the next filter. */
static void
put_last(struct callset *s)
{
	rule_allow(s, SYS_write);
	callset_begin(s, SYS_prctl);
	rule_need_equal(s, 0, PR_SET_SECCOMP, FILTER_REFUSE);
	callset_end(s, FILTER_ALLOW);
}

/*
 * gpuhelper-look, gpuhelper-judge and gpuhelper-engine open files only for reading. gpuhelper-label also writes to
 * selinuxfs, to ask the kernel about the policy, and sets labels.
 */
static void
compose_for(struct callset *s, enum filter_child child)
{
	static const long labelling[] = { SYS_write, SYS_getxattr, SYS_setxattr };

	rules_of_reading(s);
	put_opening(s, child == FILTER_LABELLER ? CHANGING : O_ACCMODE | CHANGING);
	rules_of_memory(s);
	rules_of_kill(s, NULL, 0);
	rules_of_descriptors(s);
	if (child == FILTER_LOOKER) {
		put_copies(s);
		rule_allow(s, SYS_getxattr);	/* the ACL of a folder */
	}
	else if (child == FILTER_FINDER)
		put_last(s);
	else if (child == FILTER_LABELLER)
		rule_each_of(s, labelling, sizeof(labelling) / sizeof(labelling[0]), FILTER_ALLOW);
	rules_of_evil(s);
}

/* No call that opens a file or affects another process. */
static void
compose_for_reader(struct callset *s)
{
	rule_each_of(s, computing, sizeof(computing) / sizeof(computing[0]), FILTER_ALLOW);
	rules_of_memory(s);
	rules_of_evil(s);
}

int
filter_install_for(enum filter_child child, struct why *why)
{
	struct callset s = { .n = 0 };

	if (child == FILTER_READER)
		compose_for_reader(&s);
	else
		compose_for(&s, child);
	return rules_install(&s, why);
}
