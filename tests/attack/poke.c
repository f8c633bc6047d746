/*
 * poke: tries what this process may do to process PID, and prints the name of each act that was not refused.  With a
 * second argument it repeats the acts that leave no trace for that many milliseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t pid;

static int
open_in_proc(const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	if ((fd = open(path, flags)) != -1)
		close(fd);
	return fd != -1;
}

static int
try_attach(void)
{
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) == -1)
		return 0;
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return 1;
}

static int
try_read(void)
{
	char c;
	struct iovec here = { &c, 1 }, there = { (void *)0x1000, 1 };

	/* EFAULT comes after the permission check */
	return process_vm_readv(pid, &here, 1, &there, 1, 0) != -1 || errno == EFAULT;
}

static int
try_mem(void)
{
	return open_in_proc("mem", O_RDWR);
}

static int
try_getfd(void)
{
	int p = (int)syscall(SYS_pidfd_open, pid, 0), fd = -1;

	if (p == -1)
		return 0;
	fd = (int)syscall(SYS_pidfd_getfd, p, 0, 0);
	close(p);
	if (fd != -1)
		close(fd);
	return fd != -1;
}

static int
try_environ(void)
{
	return open_in_proc("environ", O_RDONLY);
}

static int
try_fds(void)
{
	return open_in_proc("fd", O_RDONLY | O_DIRECTORY) || open_in_proc("fd/0", O_RDWR);
}

static int
try_oom(void)
{
	return open_in_proc("oom_score_adj", O_WRONLY);
}

static int
try_prlimit(void)
{
	struct rlimit r = { 0, 0 };

	return prlimit(pid, RLIMIT_FSIZE, &r, NULL) == 0;
}

static int
try_priority(void)
{
	return setpriority(PRIO_PROCESS, (id_t)pid, 19) == 0;
}

static int
try_affinity(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	return sched_setaffinity(pid, sizeof(one), &one) == 0;
}

static int
try_stop(void)
{
	if (kill(pid, SIGSTOP) == -1)
		return 0;
	kill(pid, SIGCONT);
	return 1;
}

static int
try_term(void)
{
	return kill(pid, SIGTERM) == 0;
}

static int
try_kill(void)
{
	return kill(pid, SIGKILL) == 0;
}

static const struct {
	const char *name;
	int (*act)(void);
	int traceless;
} acts[] = {
	{ "ptrace", try_attach, 1 }, { "vm_readv", try_read, 1 }, { "mem", try_mem, 1 }, { "pidfd_getfd", try_getfd, 1 },
	{ "environ", try_environ, 1 }, { "fd", try_fds, 1 }, { "oom_score_adj", try_oom, 0 },
	{ "prlimit", try_prlimit, 0 }, { "priority", try_priority, 0 }, { "affinity", try_affinity, 0 },
	{ "stop", try_stop, 0 }, { "term", try_term, 0 }, { "kill", try_kill, 0 },
};
#define ACTS (sizeof(acts) / sizeof(acts[0]))

int
main(int argc, char **argv)
{
	struct timespec t, now;
	int done[ACTS] = { 0 }, ms = argc > 2 ? atoi(argv[2]) : 0;
	size_t i;

	pid = atoi(argv[1]);
	clock_gettime(CLOCK_MONOTONIC, &t);
	do {
		for (i = 0; i < ACTS; i++)
			if (ms == 0 || acts[i].traceless)
				done[i] |= acts[i].act();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - t.tv_sec) * 1000 + (now.tv_nsec - t.tv_nsec) / 1000000 < ms);
	for (i = 0; i < ACTS; i++)
		if (done[i])
			printf("%s ", acts[i].name);
	printf("\n");
	return 0;
}
