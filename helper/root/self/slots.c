/*
 * See slots.h. A slot is a lock on an empty file in /run/gpuhelper/locks, which the kernel releases when the process
 * ends. It is taken before the request is read, so that a silent or slow client occupies one.
 */
#include "slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../../host/file.h"
#include "state.h"

static int slot = -1;
static unsigned slot_number;

/* 1: taken until the process ends. 0: another process has it. -1 with errno: its file can't be opened or locked. */
static int
lock_slot(int locks, uid_t uid, unsigned number)
{
	char name[32];
	int fd, saved;

	snprintf(name, sizeof(name), "door-%u-%u", uid, number);
	if ((fd = openat(locks, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) == -1)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		slot = fd;
		slot_number = number;
		return 1;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return saved == EWOULDBLOCK ? 0 : -1;
}

static int
refuse_uncounted_helpers(uid_t uid, enum why_code code, const char *cause, struct why *why)
{
	return refuse(why, code, GPUHELPER_RUNDIR "/locks/door-%u-0: the helpers of uid %u can't be counted: %.160s", uid,
	    uid, cause);
}

/*
 * If an error prevents even the first slot, the helper answers only root, whatever the request. No lease stays behind
 * because of that: root's timer ends all leases that a user's request would end. Such a request would need a lock in
 * the same directory anyway.
 */
int
slot_take(uid_t uid, struct why *why)
{
	autoclose int locks = -1;
	struct why cause;
	unsigned i;
	int taken = 0;

	if (uid == 0)
		return 0;
	if ((locks = state_dir("locks", &cause)) == -1)
		return refuse_uncounted_helpers(uid, cause.code, cause.text, why);
	for (i = 0; i < SLOTS_MAX && taken == 0; i++)
		taken = lock_slot(locks, uid, i);
	if (taken == 1)
		return 0;
	/* if a further slot can't be made, there are fewer */
	return i > 1 ? 1 : refuse_uncounted_helpers(uid, WHY_IO, strerror(errno), why);
}

bool
slot_may_stay(uid_t uid)
{
	struct why ignored;
	autoclose int locks = uid == 0 ? state_dir("locks", &ignored) : -1;
	unsigned i;

	/* slots are tried in order, so a low number means that few are taken */
	if (uid != 0)
		return slot_number < SLOTS_MAX / 2;
	for (i = 0; locks != -1 && slot == -1 && i < SLOTS_MAX / 2; i++)
		(void)lock_slot(locks, 0, i);
	return slot != -1;
}

int
slot_fd(void)
{
	return slot;
}
