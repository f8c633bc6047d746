/* See inodeacl.h. Only reads; root/node/acl.c writes ACLs. */
#include "inodeacl.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "../base/cleanup.h"
#include "file.h"

bool
inode_acl_read(int fd, struct posixacl *out)
{
	autofree void *value = malloc(POSIXACL_SIZE_MAX);
	char name[FILE_LINK_MAX];
	struct stat st;
	ssize_t size;

	*out = (struct posixacl){ .v = NULL };
	if (value == NULL)
		return false;
	if ((size = getxattr(file_link(fd, name), POSIXACL_XATTR, value, POSIXACL_SIZE_MAX)) != -1) {
		errno = EINVAL;		/* for a malformed ACL; calloc(3) sets ENOMEM */
		return posixacl_decode(value, (size_t)size, out);
	}
	return errno == ENODATA && fstat(fd, &st) == 0 && posixacl_of_mode(st.st_mode, out);
}
