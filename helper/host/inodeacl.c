/* See inodeacl.h. */
#include "inodeacl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "../pure/cleanup.h"

const char *
inode_acl_link(int fd, char out[INODE_ACL_LINK_MAX])
{
	snprintf(out, INODE_ACL_LINK_MAX, "/proc/self/fd/%d", fd);
	return out;
}

bool
inode_acl_read(int fd, struct posixacl *out)
{
	autofree void *value = malloc(POSIXACL_SIZE_MAX);
	char name[INODE_ACL_LINK_MAX];
	struct stat st;
	ssize_t size;

	*out = (struct posixacl){ .v = NULL };
	if (value == NULL)
		return false;
	if ((size = getxattr(inode_acl_link(fd, name), POSIXACL_XATTR, value, POSIXACL_SIZE_MAX)) != -1) {
		errno = EINVAL;		/* calloc(3) says otherwise where it is the memory */
		return posixacl_decode(value, (size_t)size, out);
	}
	return errno == ENODATA && fstat(fd, &st) == 0 && posixacl_of_mode(st.st_mode, out);
}
