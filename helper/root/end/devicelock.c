/* See devicelock.h. */
#include "devicelock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../host/file.h"
#include "../../lease/callerop.h"
#include "../self/state.h"

static void
name_lock(const struct lease *l, char out[80])
{
	snprintf(out, 80, DEVICE_LOCK "%s", l->key);
}

int
device_lock_make(const struct lease *l, struct why *why)
{
	autoclose int dir = state_dir("locks", why), fd = -1;
	char name[80];

	name_lock(l, name);
	if (dir == -1)
		return -1;
	fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd != -1 ? 0 : refuse(why, WHY_IO, "%s/locks/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
}

int
device_lock_remove(const struct lease *l, struct why *why)
{
	autoclose int dir = l->gpus_by_task ? state_dir("locks", why) : -1;
	char name[80];

	name_lock(l, name);
	if (l->gpus_by_task && (dir == -1 || (unlinkat(dir, name, 0) == -1 && errno != ENOENT)))
		return refuse(why, WHY_IO, "%s/locks/%s: %s", GPUHELPER_RUNDIR, name, strerror(errno));
	return 0;
}
