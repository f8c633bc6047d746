/* See ownproc.h. Mounts, and so must be called before a right is let go of; attaches nothing anywhere. */
#include "ownproc.h"

#include <linux/mount.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../host/file.h"

int
own_proc(void)
{
	autoclose int fs = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);

	/* each is an instance of its own since Linux 5.8; nothing in it is to be written or executed */
	if (fs == -1 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == -1)
		return -1;
	return (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
	    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}
