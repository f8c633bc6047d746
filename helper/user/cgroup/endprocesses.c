/*
 * See endprocesses.h. Runs with the caller's rights. Must signal no process but the very one that was seen in the
 * container.
 */
#include "endprocesses.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../host/cgroup/population.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/process/process.h"

#define END_MS 2000		/* for killed processes to end */
#define END_NAP_MS 5
#define DIRS_MAX 256

static bool
is_in_cgroups(const struct strlist *cgroups, pid_t pid)
{
	unsigned dirs = DIRS_MAX;
	struct pids all;
	bool in = false;
	size_t i;

	if (cgroup_pids(cgroups, &dirs, &all))
		for (i = 0; i < all.n; i++)
			in = in || all.v[i] == pid;
	free(all.v);
	return in;
}

/* Kills by descriptor: while a pidfd is open, its number can't refer to another process than the one seen. */
void
end_one(const struct strlist *cgroups, pid_t pid)
{
	autoclose int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd != -1 && is_in_cgroups(cgroups, pid))
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

/* Kills all but «first», and counts them in *n. -1 if the processes can't be seen. */
static int
kill_others(const struct strlist *cgroups, pid_t first, size_t *n)
{
	unsigned dirs = DIRS_MAX;
	struct pids all;
	bool seen = cgroup_pids(cgroups, &dirs, &all);
	size_t i;

	for (*n = 0, i = 0; seen && i < all.n; i++)
		if (all.v[i] != first) {
			end_one(cgroups, all.v[i]);
			++*n;
		}
	free(all.v);
	return seen ? 0 : -1;
}

int
end_others(const char *id, const struct strlist *cgroups, struct process_id first, struct why *why)
{
	const struct timespec nap = { .tv_nsec = END_NAP_MS * 1000000 };
	const int64_t deadline = clock_ms() + END_MS;
	size_t n;

	for (;;) {
		if (!process_id_lives(first))
			return 0;
		if (kill_others(cgroups, first.pid, &n) == -1)
			return refuse(why, WHY_IO, "container %s: the processes in its cgroups can't be seen", id);
		if (n == 0)
			return 0;
		if (clock_ms() > deadline)
			return refuse(why, WHY_AGAIN, "container %s: %zu of its processes don't end", id, n);
		nanosleep(&nap, NULL);
	}
}

int
end_first(const char *id, struct process_id first, struct why *why)
{
	autoclose int fd = (int)syscall(SYS_pidfd_open, first.pid, 0);

	if (fd == -1 || !process_id_lives(first))
		return 0;
	if (syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == -1 && errno != ESRCH)
		return refuse(why, WHY_IO, "container %s: its first process can't be ended: %s", id, strerror(errno));
	return 0;
}
