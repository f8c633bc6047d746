/*
 * See crowd.h.  A place is a lock on an empty file in /run/gpuhelper/locks, which
 * the kernel ends with the process.  Before the request is read: who is silent or slow
 * has a place all the while.
 */
#include "crowd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "../host/file.h"
#include "state.h"

/* 1: taken, and left open for good; 0: someone has it; -1: it can't be had at all. */
static int
take_place(int locks, uid_t uid, unsigned number)
{
	char name[32];
	int fd, taken;

	snprintf(name, sizeof(name), "door-%u-%u", uid, number);
	if ((fd = openat(locks, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) == -1)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 1;
	taken = errno == EWOULDBLOCK ? 0 : -1;
	close(fd);
	return taken;
}

bool
crowd_admits(uid_t uid)
{
	autoclose int locks = -1;
	struct why ignored;
	unsigned i;
	int taken = 0;

	/* what keeps us from counting is said by what follows, which needs these files more */
	if (uid == 0 || (locks = state_dir("locks", &ignored)) == -1)
		return true;
	for (i = 0; i < CROWD_MAX && taken == 0; i++)
		taken = take_place(locks, uid, i);
	return taken != 0;
}
