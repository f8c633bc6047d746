/*
 * See chores.h.  With the caller's rights, on what root's lease says is the
 * container; must signal no process that is not, by then still, in its cgroups, and
 * do nothing that the lease does not want any more.
 */
#include "chores.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../host/cgroup.h"
#include "../host/clock.h"
#include "../host/file.h"
#include "../host/process.h"
#include "../pure/cleanup.h"
#include "../pure/leasefile.h"
#include "gate.h"

#define CLEAR_MS 2000		/* for processes to end that were killed */
#define CLEAR_NAP_MS 5
#define DIRS_MAX 256
#define LOCK_MS 12000		/* longer than the helper waits for who is at it (GIVING_BACK_MS) */
#define LOCK_NAP_MS 2

static bool
is_in(const struct strlist *cgroups, pid_t pid)
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

/* By a descriptor: while that is open the number means no other process than the one that was seen. */
static void
kill_one(const struct strlist *cgroups, pid_t pid)
{
	autoclose int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd != -1 && is_in(cgroups, pid))
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

/* How many were there. */
static int
kill_others(const struct chore *c, size_t *n)
{
	unsigned dirs = DIRS_MAX;
	struct pids all;
	bool seen = cgroup_pids(&c->cgroups, &dirs, &all);
	size_t i;

	for (*n = 0, i = 0; seen && i < all.n; i++)
		if (all.v[i] != c->init.pid) {
			kill_one(&c->cgroups, all.v[i]);
			++*n;
		}
	free(all.v);
	return seen ? 0 : -1;
}

static int
clear(const struct chore *c, struct why *why)
{
	const struct timespec nap = { .tv_nsec = CLEAR_NAP_MS * 1000000 };
	const int64_t deadline = clock_ms() + CLEAR_MS;
	size_t n;

	for (;;) {
		if (!process_id_lives(c->init))
			return 0;
		if (kill_others(c, &n) == -1)
			return refuse(why, WHY_IO, "container %s: who is in its cgroups can't be seen", c->id);
		if (n == 0)
			return 0;
		if (clock_ms() > deadline)
			return refuse(why, WHY_AGAIN, "container %s: %zu processes of its ended task don't end", c->id, n);
		nanosleep(&nap, NULL);
	}
}

static int
stop(const struct chore *c, struct why *why)
{
	autoclose int fd = (int)syscall(SYS_pidfd_open, c->init.pid, 0);

	if (fd == -1 || !process_id_lives(c->init))
		return 0;
	if (syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == -1 && errno != ESRCH)
		return refuse(why, WHY_IO, "container %s: its first process can't be ended: %s", c->id, strerror(errno));
	return 0;
}

/* The lock of chore.h; -1 with *why: its holder is slow, or stopped. */
static int
lock(const struct chore *c, struct why *why)
{
	const struct timespec nap = { .tv_nsec = LOCK_NAP_MS * 1000000 };
	const int64_t deadline = clock_ms() + LOCK_MS;
	char name[sizeof(GPUHELPER_RUNDIR) + 96];
	int fd;

	snprintf(name, sizeof(name), "%s/locks/" CHORE_LOCK "%s", GPUHELPER_RUNDIR, c->lease);
	if ((fd = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "%s: %s", name, strerror(errno));
	while (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		if (errno != EWOULDBLOCK || clock_ms() > deadline) {
			close(fd);
			return refuse(why, WHY_AGAIN, "container %s: somebody else changes what it may open for over %d ms", c->id,
			    LOCK_MS);
		}
		nanosleep(&nap, NULL);
	}
	return fd;
}

/* While the lock is held nobody's chore is done; whether this one still is to be, the lease says. */
static bool
stands(const struct chore *c)
{
	autoclose int dir = open(GPUHELPER_RUNDIR "/leases", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autofree char *text = NULL;
	struct lease l = { 0 };
	struct why ignored;
	bool yes;
	size_t len;

	if (dir == -1 || (text = file_read_at(dir, c->file, LEASE_FILE_MAX, &len)) == NULL ||
	    lease_decode(text, len, &l, &ignored) == -1)
		return false;
	yes = lease_wants(&l, c);
	lease_free(&l);
	return yes;
}

static int
do_it(const struct chore *c, struct why *why)
{
	switch (c->kind) {
	case CHORE_OPEN:
		return gate_open(c->gate, c->node, c->nodes, why);
	case CHORE_STOP:
		return stop(c, why);
	case CHORE_CLEAR:
		if (clear(c, why) == -1)
			return -1;
		/* FALLTHROUGH */
	case CHORE_SHUT:
		break;
	}
	return gate_shut(c->gate, c->node, c->nodes, why);
}

/* 1: it is not to be done any more. */
static int
do_one(const struct chore *c, struct why *why)
{
	autoclose int held = lock(c, why);

	if (held == -1)
		return -1;
	if (stands(c))
		return do_it(c, why);
	if (c->kind != CHORE_OPEN)
		return 1;
	return refuse(why, WHY_AGAIN, "the lease of container %s has changed meanwhile: try again", c->id);
}

int
chores_do(const struct chores *c, struct request *next, struct why *why)
{
	struct why first = { 0 }, one;
	size_t i;
	int ret;

	strlist_free(&next->shut);
	for (i = 0; i < c->n; i++)
		if ((ret = do_one(&c->v[i], &one)) == -1) {
			next->no_chores = true;
			if (first.code == WHY_NONE)
				first = one;
		} else if (ret == 0 && c->v[i].kind != CHORE_OPEN && !strlist_add(&next->shut, c->v[i].lease, SIZE_MAX))
			refuse_nomem(&first);
	if (first.code == WHY_NONE)
		return 0;
	*why = first;
	return -1;
}
