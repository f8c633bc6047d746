/* The POSIX ACL of an inode, by a descriptor. */
#ifndef GPUHELPER_HOST_INODEACL_H
#define GPUHELPER_HOST_INODEACL_H

#include "../pure/posixacl.h"

/*
 * Reads the access ACL of what the descriptor (O_PATH, too) is open on; where the inode has none, the one that its
 * mode is.  False with errno; EOPNOTSUPP where the file system has no ACLs.  posixacl_free() in either case.
 */
bool inode_acl_read(int fd, struct posixacl *out);

#endif
