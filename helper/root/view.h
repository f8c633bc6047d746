/* A view of the host's file systems that is this process's own, and in which little can be changed. */
#ifndef GPUHELPER_ROOT_VIEW_H
#define GPUHELPER_ROOT_VIEW_H

#include "../pure/why.h"

/*
 * From here on all file systems are read-only to this process, whatever it is: no
 * file is written, made, removed, or given another mode, owner or ACL, and no device
 * node is opened.  But for /dev, where nodes are what the helper is about, our own
 * three directories, and the cgroup «gpuhelper»; as far as those were writable before.
 *
 * It takes CAP_SYS_ADMIN: where the process has that not, as behind systemd's socket
 * (gpuhelper@.service says ProtectSystem=strict), or where SELinux is, whose policy
 * says what gpuhelper_t may write, nothing is done.  Nor on a kernel without
 * mount_setattr(2) (before 5.12).  -1 with *why where it went wrong half-way.
 */
int view_make_read_only(struct why *why);

#endif
