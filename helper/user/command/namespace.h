/*
 * The user namespace that the wrapper runs in. Rootless engines make one for themselves (user_namespaces(7)).
 */
#ifndef GPUHELPER_USER_COMMAND_NAMESPACE_H
#define GPUHELPER_USER_COMMAND_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* True unless all user ids are the host's. True as well if the kernel's map can't be read. */
bool namespace_is_own(void);

/* True if a runtime sets device rules here: it is root, and not in a user namespace. */
bool namespace_has_device_cgroup(void);

/*
 * True if that process's user namespace maps uid 0 or gid 0 of this one. True as well if its maps can't be
 * read.
 */
bool namespace_has_our_root(pid_t pid);

/*
 * Must be called first. In a namespace that does not map the host's root, root's files show as owned by nobody
 * (65534), and uid 0 is the caller. Tells host/trust.h of this. Detects such a namespace by this program's own
 * file: root owns it, so its owner shows as 65534.
 */
void namespace_begin(void);

/* True if namespace_begin() found that the host's root is not mapped: uid 0 is not the host's root then. */
bool namespace_has_false_root(void);

/* True if this process is root of the host. Only after namespace_begin(). */
bool namespace_is_hosts_root(void);

/* The caller's uid outside of the namespace (one level), which names the caller in /run/gpuhelper. */
uint32_t namespace_outer_uid(void);

/*
 * The path of one of root's directories, which the caller frees: «path» itself, or, if the host's root is not
 * mapped, where its links lead. RootlessKit, for one, puts links in the way. NULL with errno.
 */
char *namespace_path(const char *path);

#endif
