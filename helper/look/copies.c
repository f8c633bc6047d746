/*
 * See copies.h. A copy ends with this process, so that the watcher (main.c) can end them all. Where one is blocked in
 * the kernel, this process waits for it, as if it were blocked itself.
 */
#include "copies.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EACH 128	/* processes: a scan of them takes many times as long as a fork(2) */

static struct copy_part *parts = MAP_FAILED;

void
copies_prepare(void)
{
	parts = mmap(NULL, COPIES_MAX * sizeof(*parts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

size_t
copies_wanted(size_t processes, size_t nodes)
{
	const size_t useful = processes / EACH;
	long processors;
	size_t n;

	if (parts == MAP_FAILED || nodes > COPY_NODES_MAX || useful < 2 || (processors = sysconf(_SC_NPROCESSORS_ONLN)) < 2)
		return 0;
	n = (useful < (size_t)processors ? useful : (size_t)processors) - 1;
	return n < COPIES_MAX ? n : COPIES_MAX;
}

int
copy_begin(struct copies *c, struct copy_part **part)
{
	const pid_t us = getpid();
	pid_t pid;

	if (c->n == COPIES_MAX)
		return -1;
	*part = &parts[c->n];
	memset(*part, 0, sizeof(**part));
	if ((pid = fork()) == -1)
		return -1;
	if (pid != 0) {
		c->pid[c->n++] = pid;
		return 0;
	}
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != us)
		copy_end(false);
	return 1;
}

_Noreturn void
copy_end(bool seen)
{
	_exit(seen ? 0 : 1);
}

const struct copy_part *
copy_await(const struct copies *c, size_t i, volatile pid_t *at)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	sigset_t child_ends;
	int status = -1;

	sigemptyset(&child_ends);
	sigaddset(&child_ends, SIGCHLD);
	/* the watcher has blocked this signal */
	while (waitpid(c->pid[i], &status, WNOHANG) == 0) {
		*at = parts[i].at;
		(void)sigtimedwait(&child_ends, NULL, &moment);
	}
	*at = parts[i].at;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? &parts[i] : NULL;
}
