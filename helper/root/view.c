/*
 * See view.h.  What a filter of system calls can't see, paths, the mounts say.  Must
 * come after all that is set up on the host, and before any right is shed.  By paths
 * of our own alone; what is mounted here is to be seen by nobody else.
 */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../host/inuse.h"

/* mount(2)'s and fcntl.h's, whose header can't be had beside the kernel's */
int mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data);
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

#define CGROUPS "/sys/fs/cgroup"
#define SELINUX "/sys/fs/selinux/enforce"

static const char *const writable[] = {
	"/dev", GPUHELPER_RUNDIR, GPUHELPER_LOGDIR, GPUHELPER_STATEDIR,
	CGROUPS "/gpuhelper", CGROUPS "/unified/gpuhelper", CGROUPS "/freezer/gpuhelper", CGROUPS "/memory/gpuhelper",
	CGROUPS "/pids/gpuhelper", CGROUPS "/cpu/gpuhelper",
};
#define WRITABLE (sizeof(writable) / sizeof(writable[0]))

static bool
is_writable(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 && (fs.f_flag & ST_RDONLY) == 0;
}

/* It becomes a mount of its own where it is none: an attribute is a mount's. */
static int
keep_writable(const char *path, struct why *why)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };

	if (syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof(attr)) == 0)
		return 0;
	if (errno != EINVAL || mount(path, path, NULL, MS_BIND | MS_REC, NULL) == -1 ||
	    syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof(attr)) == -1)
		return refuse(why, WHY_IO, "%s can't be kept writable: %s", path, strerror(errno));
	return 0;
}

int
view_make_read_only(struct why *why)
{
	/* slaves: what is unmounted on the host is not kept busy here */
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV, .propagation = MS_SLAVE };
	bool keep[WRITABLE];
	struct stat home;
	size_t i;

	if (access(SELINUX, F_OK) == 0 || stat("/proc/self/ns/mnt", &home) == -1)
		return 0;
	/* whoever writes there first would make them, which can't be done then */
	(void)mkdir(GPUHELPER_RUNDIR, 0755);
	(void)mkdir(GPUHELPER_STATEDIR, 0700);
	for (i = 0; i < WRITABLE; i++)
		keep[i] = is_writable(writable[i]);
	if (unshare(CLONE_NEWNS) == -1)
		return errno == EPERM || errno == ENOSYS ? 0 : refuse(why, WHY_AGAIN, "unshare: %s", strerror(errno));
	inuse_at_home(home.st_ino);
	/* EINVAL: "/" is no mount here (chroot), and there is no saying what all is */
	if (syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof(attr)) == -1)
		return errno == ENOSYS || errno == EINVAL ? 0 : refuse(why, WHY_AGAIN, "mount_setattr: %s", strerror(errno));
	for (i = 0; i < WRITABLE; i++)
		if (keep[i] && keep_writable(writable[i], why) == -1)
			return -1;
	return 0;
}
