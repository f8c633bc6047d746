/* See ownproc.h. Mounts, and so must be called before any right is dropped. Attaches the mount nowhere. */
#include "ownproc.h"

#include <linux/mount.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../host/file.h"

int
own_proc(void)
{
	autoclose int fs = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);

	/* since Linux 5.8 each is an instance of its own; nothing in it may be written or executed */
	if (fs == -1 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == -1)
		return -1;
	return (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
	    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}
