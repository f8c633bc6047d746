/* See filterrules.h. */
#include "filterrules.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define THIS_ARCH AUDIT_ARCH_RISCV64
#else
#error "gpuhelper needs a filter of system calls, and has none for this architecture"
#endif

#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)

void
rule_load(struct callset *s, size_t offset)
{
	program_put(&s->body, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

void
rule_answer(struct callset *s, uint32_t how)
{
	program_put(&s->body, BPF_RET | BPF_K, how, 0, 0);
}

void
rule_need_equal(struct callset *s, unsigned arg, uint32_t value, uint32_t how)
{
	rule_load(s, ARG_LOW(arg));
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
	rule_answer(s, how);
}

void
rule_need_none_of(struct callset *s, unsigned arg, uint32_t bits, uint32_t how)
{
	rule_load(s, ARG_LOW(arg));
	program_put(&s->body, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	rule_answer(s, how);
}

void
rule_allow(struct callset *s, long number)
{
	callset_begin(s, number);
	callset_end(s, FILTER_ALLOW);
}

void
rule_each_of(struct callset *s, const long *numbers, size_t n, uint32_t how)
{
	size_t i;

	for (i = 0; i < n; i++) {
		callset_begin(s, numbers[i]);
		callset_end(s, how);
	}
}

void
rules_of_memory(struct callset *s)
{
	callset_begin(s, SYS_mmap);
	rule_need_none_of(s, 2, PROT_EXEC, FILTER_KILL);
	rule_need_none_of(s, 3, MAP_SHARED, FILTER_REFUSE);		/* MAP_SHARED_VALIDATE has the bit, too; MAP_PRIVATE is another */
	callset_end(s, FILTER_ALLOW);
	callset_begin(s, SYS_mprotect);
	rule_need_none_of(s, 2, PROT_EXEC, FILTER_KILL);
	callset_end(s, FILTER_ALLOW);
}

void
rules_of_descriptors(struct callset *s)
{
	static const uint32_t commands[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL };
	size_t i;

	callset_begin(s, SYS_fcntl);
	rule_load(s, ARG_LOW(1));
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, commands[i], 0, 1);
		rule_answer(s, FILTER_ALLOW);
	}
	callset_end(s, FILTER_REFUSE);
}

void
rules_of_kill(struct callset *s, const uint32_t *child, size_t children)
{
	size_t i;

	callset_begin(s, SYS_kill);
	rule_load(s, ARG_LOW(1));
	program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	rule_answer(s, FILTER_ALLOW);
	rule_need_equal(s, 1, SIGKILL, FILTER_KILL);
	rule_load(s, ARG_LOW(0));
	for (i = 0; i < children; i++) {
		program_put(&s->body, BPF_JMP | BPF_JEQ | BPF_K, child[i], 0, 1);
		rule_answer(s, FILTER_ALLOW);
	}
	callset_end(s, FILTER_KILL);
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

void
rules_of_reading(struct callset *s)
{
	rule_each_of(s, reading, sizeof(reading) / sizeof(reading[0]), FILTER_ALLOW);
}

void
rules_of_evil(struct callset *s)
{
	rule_each_of(s, evil, sizeof(evil) / sizeof(evil[0]), FILTER_KILL);
}

static void
put_head(struct call_program *p)
{
	program_put(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	program_put(p, BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
	program_put(p, BPF_RET | BPF_K, FILTER_KILL, 0, 0);
	program_put(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	/* the system calls of x32, a second table on x86-64, have this bit */
	program_put(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
	program_put(p, BPF_RET | BPF_K, FILTER_KILL, 0, 0);
}

/* openat2(2) must never have a case: its flags are in memory, which a filter can't read (host/file.c avoids it). */
int
rules_install(struct callset *s, struct why *why)
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
