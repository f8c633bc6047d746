/*
 * The helper's side of gpuhelper-look («the looker»), a program that reads other users' processes in /proc. Such a
 * process can block its reader in the kernel for ever: while execve(2) waits for a file system of its user's (fuse(4)),
 * it holds the lock that /proc/PID/maps needs. The helper holds the lock on the leases and must not block, so it asks
 * the looker. If no answer comes in time, the helper treats the lease as in use.
 */
#ifndef GPUHELPER_ROOT_CHILD_LOOKER_H
#define GPUHELPER_ROOT_CHILD_LOOKER_H

#include "../../host/process/scanbudget.h"
#include "../../lease/leasefile.h"

/*
 * Starts the looker as spawned_start() does. To be called once, while this process has all capabilities, all its ids
 * are root's and it holds no lock. of_root: root asks, so a scan may take longer. If the looker can't be started, every
 * question below is answered as if it could see nothing.
 */
void looker_start(bool of_root);

/*
 * Has the looker set itself up now, because it will get a question soon. moved: the looker has left its caller's cgroup
 * (owncgroup.h), so that it may already start the process that scans.
 */
void looker_exec(bool moved);

/* Ends the looker, like spawned_end(). */
void looker_end(void);

/* Returns 0 if the looker can be asked, or -1 with *why. */
int looker_check(struct why *why);

/* The answers of look/leasekept.h about a lease. If nothing can be seen, the lease is of this boot, and kept. */
struct lease_status {
	bool of_another_boot, kept;
};

/* boot_only: leaves out whether the lease is kept. anew: uses nothing that was seen for earlier questions. */
void looker_ask_kept(const struct lease *l, bool boot_only, bool anew, struct scan_limits *limits,
    struct lease_status *out);

/*
 * Does rootless_lease_in_use() (look/rootlessuse.h), without anything that was seen before. True if nothing can be
 * seen.
 */
bool looker_ask_in_use(const struct lease *l);

/* Does mount_has_leaked() (look/leakedmounts.h) for the lease's lookup paths. True if nothing can be seen. */
bool looker_ask_leaked(const struct lease *l, struct budget *budget);

/* Does activity_read() (look/activity.h). If nothing can be seen, the container's task counts as running. */
void looker_ask_activity(const struct lease *l, struct activity *out);

/* Does holders_find() (look/nodeholders.h). Returns 0, or -1 with *why if a holder may have been missed. */
int looker_ask_holders(const struct edit_node *node, size_t nodes, pid_t *holder, struct why *why);

#endif
