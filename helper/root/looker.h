/*
 * The looker: a child process that reads other users' processes in /proc for the helper. Such a process can block
 * its reader in the kernel for ever: while execve(2) waits for a file system of its user's (fuse(4)), it holds the
 * lock that /proc/PID/maps needs. The helper holds the lock on the leases and must not block, so it asks the looker.
 * If no answer comes in time, the helper treats the lease as in use.
 */
#ifndef GPUHELPER_ROOT_LOOKER_H
#define GPUHELPER_ROOT_LOOKER_H

#include "../host/leaselife.h"
#include "../pure/leasefile.h"

/*
 * Forks the looker, which sets itself up when it is woken or gets its first question. To be called once, while this
 * process has all capabilities, all its ids are root's and it holds no lock. of_root: root asks, so a look may take
 * longer. If no process can be started, every question below is answered as if the looker could see nothing.
 */
void looker_start(bool of_root);
/*
 * Has the looker set itself up now, because it will get a question soon. moved: the looker has left its caller's cgroup
 * (owncgroup.h), so that it may already start the process that looks.
 */
void looker_wake(bool moved);

/* The looker's first process, which starts those that look. 0: there is none. */
pid_t looker_pid(void);

/* Ends the looker, and waits a moment to reap it, so that init need not. */
void looker_end(void);

/* The answers of host/leaselife.h about a lease. If nothing can be seen, the lease is of this boot, and kept. */
struct life {
	bool of_another_boot, kept;
};

/* boot_alone: leaves out whether the lease is kept. anew: uses nothing that was seen for earlier questions. */
void looker_sees_life(const struct lease *l, bool boot_alone, bool anew, struct life_share *share, struct life *out);

/* Does lease_in_use() (host/inuse.h), without anything that was seen before. True if nothing can be seen. */
bool looker_sees_use(const struct lease *l);

/* Does mount_was_passed() (host/passed.h) for the lease's ways. True if nothing can be seen. */
bool looker_sees_passed(const struct lease *l, struct looks *looks);

/* Does container_see() (host/container.h). If nothing can be seen, the container's task counts as running. */
void looker_sees_task(const struct lease *l, struct sight *out);

/* Does holders_find() (host/holders.h). */
int looker_finds_holders(const struct edit_node *node, size_t nodes, pid_t *holder, struct why *why);

#endif
