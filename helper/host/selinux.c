/* See selinux.h. Another program asks the loaded policy about labels (label/loaded.h). */
#include "selinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "file.h"

#define SELINUXFS "sys/fs/selinux"
#define ENFORCE "/" SELINUXFS "/enforce"
#define CONFIG "etc/selinux/config"

/*
 * The test of libselinux's is_selinux_enabled(3): selinuxfs is mounted writable, and SELinux is configured.
 */
static bool
can_be_asked(int root)
{
	autoclose int dir = file_open_beneath(root, SELINUXFS, O_PATH | O_DIRECTORY);
	struct statfs fs;

	return dir != -1 && fstatfs(dir, &fs) == 0 && (uint32_t)fs.f_type == SELINUX_MAGIC &&
	    ((unsigned long)fs.f_flags & ST_RDONLY) == 0 && faccessat(root, CONFIG, F_OK, 0) == 0;
}

int
selinux_state(enum selinux_state *out, struct why *why)
{
	const int root = file_root();
	autofree char *enforce = NULL;

	*out = SELINUX_ABSENT;
	if (root == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	enforce = file_read_at(root, &ENFORCE[1], 16, NULL);
	if (enforce == NULL && errno == ENOENT)
		return 0;
	if (enforce == NULL)
		return refuse(why, WHY_IO, ENFORCE ": %s", strerror(errno));
	if (can_be_asked(root)) {
		*out = enforce[0] == '0' ? SELINUX_PERMISSIVE : SELINUX_ENFORCING;
		return 0;
	}
	/* selinuxfs is read-only for us, as in a container, but SELinux is on */
	if (enforce[0] != '0')
		return refuse(why, WHY_DENIED, ENFORCE " says that SELinux enforces, and it can't be asked from here: nothing is "
		    "granted");
	return 0;
}

bool
selinux_label_of(int fd, char out[SECONTEXT_MAX])
{
	char name[FILE_LINK_MAX];
	const ssize_t n = getxattr(file_link(fd, name), "security.selinux", out, SECONTEXT_MAX - 1);

	if (n == 0)
		errno = ENODATA;
	if (n <= 0)
		return false;
	out[n] = '\0';
	return true;
}
