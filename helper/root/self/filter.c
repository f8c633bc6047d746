/*
 * See filter.h. A filter sees numbers, not paths: it can limit how a file is opened or made, but not which one. Must
 * allow no way to make a file with another mode or a node of another kind, to execute a program, or, except in the
 * looker, to start a process.
 */
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/nsfs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "callset.h"

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define THIS_ARCH AUDIT_ARCH_RISCV64
#else
#error "gpuhelper needs a filter of system calls, and has none for this architecture"
#endif

#define KILL SECCOMP_RET_KILL_PROCESS
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)
#define ALLOW SECCOMP_RET_ALLOW

#define NOT_OF_FILES 07077U		/* mode bits of new files: only root may use them */
#define NOT_OF_DIRECTORIES 07022U	/* of new directories and of chmod(2): others may read */

#define LOW(n) (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (n))	/* all these machines are little-endian */
#define HIGH(n) (LOW(n) + 4)

static void
load(struct callset *s, size_t offset)
{
	program_put(&s->body, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void
answer(struct callset *s, uint32_t how)
{
	program_put(&s->body, BPF_RET | BPF_K, how, 0, 0);
}

/* Answers «how» unless the argument has this value. Compares the low half: the kernel takes these arguments as int. */
static void
need_equal(struct callset *s, unsigned arg, uint32_t value, uint32_t how)
{
	load(s, LOW(arg));
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
	answer(s, how);
}

static void
need_none_of(struct callset *s, unsigned arg, uint32_t bits, uint32_t how)
{
	load(s, LOW(arg));
	program_put(&s->body, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	answer(s, how);
}

static void
allow(struct callset *s, long number)
{
	callset_begin(s, number);
	callset_end(s, ALLOW);
}

static void
each_of(struct callset *s, const long *numbers, size_t n, uint32_t how)
{
	size_t i;

	for (i = 0; i < n; i++) {
		callset_begin(s, numbers[i]);
		callset_end(s, how);
	}
}

/* Checks the mode only with flags that make a file: without them the argument is undefined. */
static void
put_open(struct callset *s, long number, unsigned flags)
{
	callset_begin(s, number);
	load(s, LOW(flags));
	program_put(&s->body, BPF_JMP | BPF_JSET | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 1, 0);
	answer(s, ALLOW);
	need_none_of(s, flags + 1, NOT_OF_FILES, KILL);
	callset_end(s, ALLOW);
}

static void
put_mode(struct callset *s, long number, unsigned mode)
{
	callset_begin(s, number);
	need_none_of(s, mode, NOT_OF_DIRECTORIES, KILL);
	callset_end(s, ALLOW);
}

/* mknodat(2): only character devices with the driver's majors, and no mode bits beyond 0666. */
static void
put_nodes(struct callset *s, const struct filter_nodes *nodes)
{
	size_t i;

	callset_begin(s, SYS_mknodat);
	/* /proc/devices could not be read when the filter was made; node.c reports the EPERM */
	if (nodes->majors == 0) {
		callset_end(s, REFUSE);
		return;
	}
	load(s, LOW(2));
	program_put(&s->body, BPF_ALU | BPF_AND | BPF_K, ~0666U, 0, 0);
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, S_IFCHR, 1, 0);
	answer(s, KILL);
	/* the device number: a major of 12 bits above the minor's low 8 bits */
	load(s, LOW(3));
	program_put(&s->body, BPF_ALU | BPF_RSH | BPF_K, 8, 0, 0);
	program_put(&s->body, BPF_ALU | BPF_AND | BPF_K, 0xfff, 0, 0);
	for (i = 0; i < nodes->majors; i++) {
		program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, nodes->major[i], 0, 1);
		answer(s, ALLOW);
	}
	callset_end(s, KILL);
}

static void
put_owners(struct callset *s, const struct filter_nodes *nodes)
{
	callset_begin(s, SYS_fchownat);
	need_equal(s, 2, nodes->uid, KILL);
	need_equal(s, 3, nodes->gid, KILL);
	callset_end(s, ALLOW);
	callset_begin(s, SYS_fchown);
	need_equal(s, 1, 0, KILL);
	callset_end(s, ALLOW);
}

/*
 * No executable mapping can be added: the program's own exist already. No shared mapping either: write(2) clears a
 * file's setuid bit, but a write to a shared page would not, and mprotect(2) could make a page writable later.
 * Libraries that try one (glibc's gconv, libselinux's status page) do without when it fails.
 */
static void
put_memory(struct callset *s)
{
	callset_begin(s, SYS_mmap);
	need_none_of(s, 2, PROT_EXEC, KILL);
	need_none_of(s, 3, MAP_SHARED, REFUSE);		/* MAP_SHARED_VALIDATE has the bit, too; MAP_PRIVATE is another */
	callset_end(s, ALLOW);
	callset_begin(s, SYS_mprotect);
	need_none_of(s, 2, PROT_EXEC, KILL);
	callset_end(s, ALLOW);
}

/* fcntl(2) without commands that signal other processes (F_SETOWN with O_ASYNC) or take leases on files. */
static void
put_harmless(struct callset *s)
{
	static const uint32_t commands[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL };
	size_t i;

	callset_begin(s, SYS_fcntl);
	load(s, LOW(1));
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, commands[i], 0, 1);
		answer(s, ALLOW);
	}
	callset_end(s, REFUSE);
}

/* kill(2): signal 0 to any process, to see whether it exists; SIGKILL only to these children. */
static void
put_kill(struct callset *s, const uint32_t *child, size_t children)
{
	size_t i;

	callset_begin(s, SYS_kill);
	load(s, LOW(1));
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	answer(s, ALLOW);
	need_equal(s, 1, SIGKILL, KILL);
	load(s, LOW(0));
	for (i = 0; i < children; i++) {
		program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, child[i], 0, 1);
		answer(s, ALLOW);
	}
	callset_end(s, KILL);
}

/* Allows passing descriptors, but only over gpuhelper-label's channel. */
static void
put_labeller(struct callset *s, const struct filter_nodes *nodes)
{
	callset_begin(s, SYS_sendmsg);
	need_equal(s, 0, (uint32_t)nodes->labeller_channel, KILL);
	callset_end(s, ALLOW);
	/* for a descriptor of the process that asked, by which gpuhelper-label sees its end */
	allow(s, SYS_pidfd_open);
}

/* Allows the few harmless uses of some powerful calls. */
static void
put_special(struct callset *s)
{
	callset_begin(s, SYS_ioctl);
	/* the owner and the parent of a user namespace (peer.c) */
	load(s, LOW(1));
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, NS_GET_OWNER_UID, 2, 0);
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, NS_GET_PARENT, 1, 0);
	answer(s, REFUSE);
	callset_end(s, ALLOW);
	/* reading this process's limits (sysconf(3)), not setting them */
	callset_begin(s, SYS_prlimit64);
	need_equal(s, 0, 0, REFUSE);
	need_equal(s, 2, 0, REFUSE);
	load(s, HIGH(2));
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	answer(s, REFUSE);
	callset_end(s, ALLOW);
	/* abort(3) */
	callset_begin(s, SYS_tgkill);
	need_equal(s, 0, (uint32_t)getpid(), KILL);
	need_equal(s, 2, SIGABRT, KILL);
	callset_end(s, ALLOW);
}

/* setresuid(2), only to the caller's uid (leave()). */
static void
put_leaving(struct callset *s, uint32_t caller)
{
	unsigned arg;

	callset_begin(s, SYS_setresuid);
	for (arg = 0; arg < 3; arg++)
		need_equal(s, arg, caller, KILL);
	callset_end(s, ALLOW);
}

/* These end the process: neither we nor our libraries make them. */
static const long evil[] = {
	SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount,
	SYS_umount2, SYS_move_mount, SYS_open_tree, SYS_mount_setattr, SYS_fsopen, SYS_fsmount,
	SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_init_module, SYS_finit_module,
	SYS_delete_module, SYS_kexec_load, SYS_bpf, SYS_open_by_handle_at, SYS_io_uring_setup,
	SYS_userfaultfd, SYS_perf_event_open, SYS_add_key, SYS_keyctl, SYS_tkill, SYS_rt_sigqueueinfo,
	SYS_pidfd_send_signal, SYS_pidfd_getfd, SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setresgid,
	SYS_setgroups, SYS_capset, SYS_linkat, SYS_symlinkat, SYS_timer_settime, SYS_timer_delete, SYS_reboot,
	SYS_swapon,
#ifdef SYS_link
	SYS_link, SYS_symlink, SYS_mknod, SYS_chmod, SYS_chown, SYS_lchown, SYS_creat,
#endif
};

/* These fail with EPERM: a library may try them, and does without. */
static const long unneeded[] = {
	SYS_socket, SYS_clone, SYS_clone3,
#ifdef SYS_fork
	SYS_fork, SYS_vfork,
#endif
};

/* Calls that read, or that affect only the process itself. */
static const long reading[] = {
	/* files, by descriptors and names */
	SYS_read, SYS_pread64, SYS_readv, SYS_close, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs,
	SYS_fstatfs, SYS_getdents64, SYS_readlinkat, SYS_faccessat, SYS_faccessat2, SYS_dup,
	/* its sockets and children */
	SYS_ppoll, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_wait4,
	/* memory, time, itself */
	SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex, SYS_getrandom,
	SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_setitimer,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall, SYS_getpid, SYS_getppid,
	SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_uname, SYS_sysinfo, SYS_kcmp,
	SYS_sched_yield, SYS_exit, SYS_exit_group,
#ifdef SYS_getrlimit
	SYS_getrlimit,
#endif
	/* older calls for the same, which some C libraries use */
#ifdef SYS_stat
	SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_poll, SYS_time,
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

/* Calls of a program that only parses its questions. */
static const long computing[] = {
	SYS_read, SYS_write, SYS_close, SYS_ppoll, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_brk, SYS_munmap, SYS_mremap,
	SYS_madvise, SYS_futex, SYS_getrandom, SYS_clock_gettime, SYS_gettimeofday, SYS_rt_sigreturn, SYS_restart_syscall,
	SYS_exit, SYS_exit_group,
#ifdef SYS_poll
	SYS_poll, SYS_time,
#endif
};

static void
put_reading(struct callset *s)
{
	each_of(s, reading, sizeof(reading) / sizeof(reading[0]), ALLOW);
}

static void
compose_filter(struct callset *s, const struct filter_nodes *nodes)
{
	put_reading(s);
	each_of(s, changing, sizeof(changing) / sizeof(changing[0]), ALLOW);
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
		allow(s, SYS_symlinkat);
	put_memory(s);
	put_kill(s, nodes->child, nodes->children);
	if (nodes->labeller_channel != -1)
		put_labeller(s, nodes);
	put_harmless(s);
	put_special(s);
	if (nodes->caller != 0)
		put_leaving(s, nodes->caller);
	each_of(s, evil, sizeof(evil) / sizeof(evil[0]), KILL);
	each_of(s, unneeded, sizeof(unneeded) / sizeof(unneeded[0]), REFUSE);
}

/* Flags of open(2) that make or change a file: no child has them. */
#define CHANGING (O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY))

static void
put_opening(struct callset *s, uint32_t forbidden)
{
	callset_begin(s, SYS_openat);
	need_none_of(s, 2, forbidden, KILL);
	callset_end(s, ALLOW);
#ifdef SYS_open
	callset_begin(s, SYS_open);
	need_none_of(s, 1, forbidden, KILL);
	callset_end(s, ALLOW);
#endif
}

/* fork(3), with nothing shared; and PR_SET_PDEATHSIG, so that the child ends with its parent. */
static void
put_copies(struct callset *s)
{
	callset_begin(s, SYS_clone);
	load(s, LOW(0));
	program_put(&s->body, BPF_ALU | BPF_AND | BPF_K, ~(uint32_t)(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID), 0, 0);
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, SIGCHLD, 1, 0);
	answer(s, KILL);
	callset_end(s, ALLOW);
	callset_begin(s, SYS_prctl);
	need_equal(s, 0, PR_SET_PDEATHSIG, REFUSE);
	callset_end(s, ALLOW);
	allow(s, SYS_set_robust_list);
	allow(s, SYS_rt_sigtimedwait);
	allow(s, SYS_getrusage);
}

/* Writing the answer, and installing the next filter. */
static void
put_last(struct callset *s)
{
	allow(s, SYS_write);
	callset_begin(s, SYS_prctl);
	need_equal(s, 0, PR_SET_SECCOMP, REFUSE);
	callset_end(s, ALLOW);
}

/*
 * gpuhelper-look, gpuhelper-judge and gpuhelper-engine open files only for reading. gpuhelper-label also writes to
 * selinuxfs, to ask the kernel about the policy, and sets labels.
 */
static void
compose_for(struct callset *s, enum filter_child child)
{
	static const long labelling[] = { SYS_write, SYS_getxattr, SYS_setxattr };

	put_reading(s);
	put_opening(s, child == FILTER_LABELLER ? CHANGING : O_ACCMODE | CHANGING);
	put_memory(s);
	put_kill(s, NULL, 0);
	put_harmless(s);
	if (child == FILTER_LOOKER)
		put_copies(s);
	else if (child == FILTER_FINDER)
		put_last(s);
	else if (child == FILTER_LABELLER)
		each_of(s, labelling, sizeof(labelling) / sizeof(labelling[0]), ALLOW);
	each_of(s, evil, sizeof(evil) / sizeof(evil[0]), KILL);
}

/* No call that opens a file or affects another process. */
static void
compose_for_reader(struct callset *s)
{
	each_of(s, computing, sizeof(computing) / sizeof(computing[0]), ALLOW);
	put_memory(s);
	each_of(s, evil, sizeof(evil) / sizeof(evil[0]), KILL);
}

static void
put_head(struct call_program *p)
{
	program_put(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	program_put(p, BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
	program_put(p, BPF_RET | BPF_K, KILL, 0, 0);
	program_put(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	/* the system calls of x32, a second table on x86-64, have this bit */
	program_put(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
	program_put(p, BPF_RET | BPF_K, KILL, 0, 0);
}

/* openat2(2) must never have a case: its flags are in memory, which a filter can't read (host/file.c avoids it). */
static int
install(struct callset *s, struct why *why)
{
	struct call_program p = { .n = 0 };
	struct sock_fprog prog = { .filter = p.v };

	put_head(&p);
	callset_compile(s, UNKNOWN, &p);
	if (p.full)
		return refuse(why, WHY_BUG, "the filter of system calls is too long");
	prog.len = p.n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == -1)
		return refuse(why, WHY_BUG, "seccomp: %s: gpuhelper needs a kernel with CONFIG_SECCOMP_FILTER", strerror(errno));
	return 0;
}

int
filter_install(const struct filter_nodes *nodes, struct why *why)
{
	struct callset s = { .n = 0 };

	compose_filter(&s, nodes);
	return install(&s, why);
}

int
filter_install_for(enum filter_child child, struct why *why)
{
	struct callset s = { .n = 0 };

	if (child == FILTER_READER)
		compose_for_reader(&s);
	else
		compose_for(&s, child);
	return install(&s, why);
}
