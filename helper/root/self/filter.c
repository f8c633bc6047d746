/*
 * See filter.h. A filter sees numbers, not paths: it can limit how a file is opened or made, but not which one. Must
 * allow no way to make a file with another mode or a node of another kind, to execute a program, or, except in the
 * looker, to start a process.
 */
#include "filter.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filterrules.h"

#define NOT_OF_FILES 07077U		/* mode bits of new files: only root may use them */
#define NOT_OF_DIRECTORIES 07022U	/* of new directories and of chmod(2): others may read */

/* Checks the mode only with flags that make a file: without them the argument is undefined. */
static void
put_open(struct callset *s, long number, unsigned flags)
{
	callset_begin(s, number);
	rule_load(s, ARG_LOW(flags));
	program_put(&s->body, BPF_JMP | BPF_JSET | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 1, 0);
	rule_answer(s, FILTER_ALLOW);
	rule_need_none_of(s, flags + 1, NOT_OF_FILES, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
}

static void
put_mode(struct callset *s, long number, unsigned mode)
{
	callset_begin(s, number);
	rule_need_none_of(s, mode, NOT_OF_DIRECTORIES, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
}

/* mknodat(2): only character devices with the driver's majors, and no mode bits beyond 0666. */
static void
put_nodes(struct callset *s, const struct filter_nodes *nodes)
{
	size_t i;

	callset_begin(s, SYS_mknodat);
	/* /proc/devices could not be read when the filter was made; changes.c reports the EPERM */
	if (nodes->majors == 0) {
		callset_end(s, FILTER_REFUSE);
		return;
	}
	rule_load(s, ARG_LOW(2));
	program_put(&s->body, BPF_ALU | BPF_AND | BPF_K, ~0666U, 0, 0);
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, S_IFCHR, 1, 0);
	rule_answer(s, FILTER_KILL);
	/* the device number: a major of 12 bits above the minor's low 8 bits */
	rule_load(s, ARG_LOW(3));
	program_put(&s->body, BPF_ALU | BPF_RSH | BPF_K, 8, 0, 0);
	program_put(&s->body, BPF_ALU | BPF_AND | BPF_K, 0xfff, 0, 0);
	for (i = 0; i < nodes->majors; i++) {
		program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, nodes->major[i], 0, 1);
		rule_answer(s, FILTER_ALLOW);
	}
	callset_end(s, FILTER_KILL);
}

static void
put_owners(struct callset *s, const struct filter_nodes *nodes)
{
	callset_begin(s, SYS_fchownat);
	rule_need_equal(s, 2, nodes->uid, FILTER_KILL);
	rule_need_equal(s, 3, nodes->gid, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
	callset_begin(s, SYS_fchown);
	rule_need_equal(s, 1, 0, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
}

/* Allows passing descriptors, but only over gpuhelper-label's channel. */
static void
put_labeller(struct callset *s, const struct filter_nodes *nodes)
{
	callset_begin(s, SYS_sendmsg);
	rule_need_equal(s, 0, (uint32_t)nodes->labeller_channel, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
	/* for a descriptor of the process that asked, by which gpuhelper-label sees its end */
	rule_allow(s, SYS_pidfd_open);
}

/* Allows the few harmless uses of some powerful calls. */
static void
put_special(struct callset *s)
{
	callset_begin(s, SYS_ioctl);
	/* the owner and the parent of a user namespace (peer.c) */
	rule_load(s, ARG_LOW(1));
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, NS_GET_OWNER_UID, 2, 0);
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, NS_GET_PARENT, 1, 0);
	rule_answer(s, FILTER_REFUSE);
	callset_end(s, FILTER_ALLOW);
	/* reading this process's limits (sysconf(3)), not setting them */
	callset_begin(s, SYS_prlimit64);
	rule_need_equal(s, 0, 0, FILTER_REFUSE);
	rule_need_equal(s, 2, 0, FILTER_REFUSE);
	rule_load(s, ARG_HIGH(2));
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	rule_answer(s, FILTER_REFUSE);
	callset_end(s, FILTER_ALLOW);
	/* abort(3) */
	callset_begin(s, SYS_tgkill);
	rule_need_equal(s, 0, (uint32_t)getpid(), FILTER_KILL);
	rule_need_equal(s, 2, SIGABRT, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
}

/* setresuid(2), only to the caller's uid (leave()). */
static void
put_leaving(struct callset *s, uint32_t caller)
{
	unsigned arg;

	callset_begin(s, SYS_setresuid);
	for (arg = 0; arg < 3; arg++)
		rule_need_equal(s, arg, caller, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
}

/* These fail with EPERM: a library may try them, and does without. */
static const long unneeded[] = {
	SYS_socket, SYS_clone, SYS_clone3,
#ifdef SYS_fork
	SYS_fork, SYS_vfork,
#endif
};

/* Further calls of the helper, with any arguments. */
static const long changing[] = {
	SYS_write, SYS_pwrite64, SYS_writev, SYS_flock, SYS_fsync, SYS_fdatasync, SYS_utimensat,
	SYS_unlinkat, SYS_renameat2, SYS_umask, SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_setxattr,
	SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_getsockopt, SYS_shutdown, SYS_mlockall,
#ifdef SYS_renameat
	SYS_renameat,
#endif
#ifdef SYS_dup2
	SYS_dup2, SYS_unlink, SYS_rmdir, SYS_rename, SYS_utimes,
#endif
};

static void
compose_filter(struct callset *s, const struct filter_nodes *nodes)
{
	rules_of_reading(s);
	rule_each_of(s, changing, sizeof(changing) / sizeof(changing[0]), FILTER_ALLOW);
	put_open(s, SYS_openat, 2);
	put_mode(s, SYS_mkdirat, 2);
	put_mode(s, SYS_fchmod, 1);
	put_mode(s, SYS_fchmodat, 2);
#ifdef SYS_open
	put_open(s, SYS_open, 1);
	put_mode(s, SYS_mkdir, 1);
#endif
	put_nodes(s, nodes);
	put_owners(s, nodes);
	if (nodes->links)
		rule_allow(s, SYS_symlinkat);
	rules_of_memory(s);
	rules_of_kill(s, nodes->child, nodes->children);
	if (nodes->labeller_channel != -1)
		put_labeller(s, nodes);
	rules_of_descriptors(s);
	put_special(s);
	if (nodes->caller != 0)
		put_leaving(s, nodes->caller);
	rules_of_evil(s);
	rule_each_of(s, unneeded, sizeof(unneeded) / sizeof(unneeded[0]), FILTER_REFUSE);
}

int
filter_install(const struct filter_nodes *nodes, struct why *why)
{
	struct callset s = { .n = 0 };

	compose_filter(&s, nodes);
	return rules_install(&s, why);
}
