/* The POSIX ACL of an inode, by a descriptor. */
#ifndef GPUHELPER_HOST_INODEACL_H
#define GPUHELPER_HOST_INODEACL_H

#include "../pure/posixacl.h"

/*
 * Reads the access ACL of what the descriptor (O_PATH, too) is open on; where the inode has none, the one that its
 * mode is.  False with errno; EOPNOTSUPP where the file system has no ACLs.  posixacl_free() in either case.
 */
bool inode_acl_read(int fd, struct posixacl *out);

/* «/proc/self/fd/FD»: fgetxattr(2) and fsetxattr(2) want more than O_PATH, and opening a GPU does things to it. */
#define INODE_ACL_LINK_MAX 40
const char *inode_acl_link(int fd, char out[INODE_ACL_LINK_MAX]);

#endif
