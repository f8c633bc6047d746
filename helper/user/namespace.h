/* The user namespace that the wrapper runs in: engines without root make one for themselves (user_namespaces(7)). */
#ifndef GPUHELPER_USER_NAMESPACE_H
#define GPUHELPER_USER_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* True unless all ids are the host's.  True too where that can't be seen. */
bool namespace_is_own(void);

/* True where a runtime would set device rules: it is root, and not in a user namespace. */
bool namespace_has_device_cgroup(void);

/* True if a process's user namespace has an id for this one's uid 0, or gid 0.  True too where that can't be seen. */
bool namespace_has_our_root(pid_t pid);

/*
 * To be called first.  In a namespace that has no name for the host's root, what
 * is root's shows as no one's (65534), and uid 0 is the caller himself: says so to
 * host/trust.h.  By what is told: this program's own file, which is root's, is then
 * not root's to be seen.
 */
void namespace_begin(void);

/* True where namespace_begin() found that: root here is only called so. */
bool namespace_has_false_root(void);

/* The caller's uid outside, as far as one namespace goes: /run/gpuhelper names him by that. */
uint32_t namespace_outer_uid(void);

/*
 * The name of a directory of root's: itself; where root is false, what it leads
 * to, since who made the namespace may have put links in its way (RootlessKit
 * does).  The caller frees; NULL: no memory, or it is not there (errno).
 */
char *namespace_path(const char *path);

#endif
