/*
 * Looks at other people's processes, in a process of its own. Whoever is looked at can keep whoever looks waiting,
 * inside the kernel and for ever: an execve(2) that waits for a file system of its user's (fuse(4)) holds the lock
 * that /proc/PID/maps needs. So the helper, while it holds the leases' lock, asks the looker.
 * Where no answer comes in time, the helper goes on as if the lease were in use.
 */
#ifndef GPUHELPER_ROOT_LOOKER_H
#define GPUHELPER_ROOT_LOOKER_H

#include "../host/leaselife.h"
#include "../pure/leasefile.h"

/*
 * Starts it, once, while this process has all of its rights, counts as root's and has locked nothing. For a request of
 * root's it may look for longer. Where no process can be started, each question below is answered as if nothing could
 * be seen.
 */
void looker_start(bool of_root);

/* Its process, which starts the ones that look; 0: there is none. */
pid_t looker_pid(void);

/* Ends it, and waits a moment until it has ended, so that nobody else has to bury it. */
void looker_end(void);

/* What is to be known of a lease, as host/leaselife.h says it. Where nothing can be seen: of this boot, and kept. */
struct life {
	bool of_another_boot, kept;
};

/* With «boot_alone» nobody asks who keeps it. With «anew» what was seen for the lease before does not count. */
void looker_sees_life(const struct lease *l, bool boot_alone, bool anew, struct life_share *share, struct life *out);

/* As lease_in_use() (host/inuse.h), anew. */
bool looker_sees_use(const struct lease *l);

/* As mount_was_passed() (host/passed.h), of the lease's ways. */
bool looker_sees_passed(const struct lease *l, struct looks *looks);

/* As container_see() (host/container.h). Where nothing can be seen its task goes on. */
void looker_sees_task(const struct lease *l, struct sight *out);

/* As holders_find() (host/holders.h). */
int looker_finds_holders(const struct edit_node *node, size_t nodes, pid_t *holder, struct why *why);

#endif
