/* Reads the POSIX ACL of an inode by a descriptor. */
#ifndef GPUHELPER_HOST_INODEACL_H
#define GPUHELPER_HOST_INODEACL_H

#include "../kernel/posixacl.h"

/*
 * Reads the access ACL of the descriptor's inode (O_PATH is enough). For an inode without one, makes the ACL
 * that its mode means. False with errno; EOPNOTSUPP if the file system has no ACLs. The caller calls
 * posixacl_free() in any case.
 */
bool inode_acl_read(int fd, struct posixacl *out);

#endif
