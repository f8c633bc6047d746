/*
 * See chores.h.  With the caller's rights, on what root's lease says is the
 * container; must do nothing that the lease does not want any more.
 */
#include "chores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "../host/clock.h"
#include "../host/file.h"
#include "../pure/cleanup.h"
#include "../pure/leasefile.h"
#include "ending.h"
#include "gate.h"

#define LOCK_MS 12000		/* longer than the helper waits for who is at it (GIVING_BACK_MS) */
#define LOCK_NAP_MS 2

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
		return end_first(c->id, c->init, why);
	case CHORE_CLEAR:
		if (end_others(c->id, &c->cgroups, c->init, why) == -1)
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
