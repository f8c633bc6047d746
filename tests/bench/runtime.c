/*
 * Stands in for runc in the benchmark.  It ends at once, so that a figure contains only the wrapper's time.
 *
 * With BENCH_CGROUP=FILE it leaves behind what gpuhelper looks for after a granted create: a process in its own cgroup.
 * FILE is that cgroup's cgroup.procs; «%» stands for the last argument, the container's id.  With BENCH_MOUNTS=FILE the
 * process is in the mount namespace FILE, and with BENCH_ROOT=DIRECTORY that is its root directory.
 */
#include "bare.h"

#define O_WRONLY 01
#define O_RDONLY 00
#define AT_FDCWD (-100)
#define CLONE_NEWNS 0x20000
#define SIGCHLD 17

void start(long *stack);

static const char *
value_of(char **env, const char *name)
{
	const char *e, *n;

	for (; *env != (char *)0; env++) {
		for (e = *env, n = name; *n != '\0' && *e == *n; e++, n++)
			;
		if (*n == '\0' && *e == '=')
			return e + 1;
	}
	return (char *)0;
}

static long
open_with(const char *pattern, const char *id, long flags)
{
	char path[512];
	unsigned n = 0;

	for (; *pattern != '\0' && n < sizeof(path) - 1; pattern++)
		if (*pattern != '%')
			path[n++] = *pattern;
		else
			for (; *id != '\0' && n < sizeof(path) - 1; id++)
				path[n++] = *id;
	path[n] = '\0';
	return bare_call(__NR_openat, AT_FDCWD, (long)path, flags, 0);
}

static void
leave_process(const char *cgroup, const char *mounts, const char *root, const char *id)
{
	int ready[2];
	char word = '0';
	long fd;

	bare_call(__NR_pipe2, (long)ready, 0, 0, 0);
	if (bare_call(__NR_clone, SIGCHLD, 0, 0, 0) != 0) {
		bare_call(__NR_close, ready[1], 0, 0, 0);
		/* no byte if the process could not do its part */
		bare_call(__NR_exit_group, bare_call(__NR_read, ready[0], (long)&word, 1, 0) == 1 ? 0 : 3, 0, 0, 0);
	}
	fd = open_with(cgroup, id, O_WRONLY);
	if (bare_call(__NR_write, fd, (long)&word, 1, 0) != 1)
		bare_call(__NR_exit_group, 3, 0, 0, 0);
	if (mounts != (char *)0) {
		fd = open_with(mounts, id, O_RDONLY);
		if (bare_call(__NR_setns, fd, CLONE_NEWNS, 0, 0) != 0)
			bare_call(__NR_exit_group, 3, 0, 0, 0);
	}
	if (root != (char *)0 && bare_call(__NR_chroot, (long)root, 0, 0, 0) != 0)
		bare_call(__NR_exit_group, 3, 0, 0, 0);
	for (fd = 0; fd < 16; fd++)
		if (fd != ready[1])
			bare_call(__NR_close, fd, 0, 0, 0);
	bare_call(__NR_write, ready[1], (long)&word, 1, 0);
	bare_call(__NR_close, ready[1], 0, 0, 0);
	for (;;)
		bare_call(__NR_ppoll, 0, 0, 0, 0);
}

void
start(long *stack)
{
	char **argv = (char **)(stack + 1), **env = argv + stack[0] + 1;
	const char *cgroup = value_of(env, "BENCH_CGROUP");

	if (cgroup != (char *)0)
		leave_process(cgroup, value_of(env, "BENCH_MOUNTS"), value_of(env, "BENCH_ROOT"), argv[stack[0] - 1]);
	bare_call(__NR_exit_group, 0, 0, 0, 0);
}
