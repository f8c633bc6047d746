/* The groups of this host whose members can become root, to be refused in a CDI spec's additionalGids. */
#ifndef GPUHELPER_CTL_CDI_CDIGROUPS_H
#define GPUHELPER_CTL_CDI_CDIGROUPS_H

#include "../../cdi/cdi.h"

/*
 * Finds the groups of /etc/group whose names are known for it (disk, docker, sudo, ...), and the groups that
 * own, or have an ACL entry on, a disk, the memory, an input device, an engine's socket or the password
 * files. The caller frees *out. Returns 0, or -1 with *why if a file can't be read.
 */
int cdi_groups_of_host(struct cdi_group **out, size_t *n, struct why *why);

#endif
