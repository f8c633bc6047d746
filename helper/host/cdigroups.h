/* Groups of this host whose members are as good as root, for a CDI spec's additionalGids. */
#ifndef GPUHELPER_HOST_CDIGROUPS_H
#define GPUHELPER_HOST_CDIGROUPS_H

#include "../pure/cdi.h"

/*
 * Those that are known for it by name (disk, docker, sudo, ...) in /etc/group, and
 * those that own, or have an ACL entry on, a disk, the memory or what is typed in
 * /dev, an engine's socket, or the passwords.  *out is the caller's to free.
 * -1 with *why where that can't be read.
 */
int cdi_groups_of_host(struct cdi_group **out, size_t *n, struct why *why);

#endif
