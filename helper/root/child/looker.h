/*
 * The helper's side of gpuhelper-look («the looker»), a program that reads other users' processes in /proc, and walks
 * paths on which a user's file system may lie. Either can block its reader for ever: a process that waits in execve(2)
 * for a file system of its user's (fuse(4)) holds the lock that /proc/PID/maps needs. The helper holds the lock on the
 * leases and must not block, so it asks the looker. If no answer comes in time, the helper treats the lease as in use.
 */
#ifndef GPUHELPER_ROOT_CHILD_LOOKER_H
#define GPUHELPER_ROOT_CHILD_LOOKER_H

#include "../../ask/lookquery.h"
#include "../../host/process/scanbudget.h"

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

/* Returns 0 if the looker can be asked, or -1 with *why. */
int looker_check(struct why *why);

/* The answers of look/leaseinuse.h about a lease. If nothing can be seen, the lease is of this boot, and in use. */
struct lease_status {
	bool of_another_boot, in_use;
};

/* boot_only: leaves out whether the lease is in use. anew: uses nothing that was seen for earlier questions. */
void looker_ask_status(const struct lease *l, bool boot_only, bool anew, struct scan_limits *limits,
    struct lease_status *out);

/*
 * Does rootless_lease_in_use() (look/rootlessuse.h), without anything that was seen before. True if nothing can be
 * seen.
 */
bool looker_ask_rootless_use(const struct lease *l);

/* Does mount_has_leaked() (look/leakedmounts.h) for the lease's lookup paths. True if nothing can be seen. */
bool looker_ask_leaked(const struct lease *l, struct budget *budget);

/* Does activity_read() (look/activity.h). If nothing can be seen, the container's task counts as running. */
void looker_ask_activity(const struct lease *l, struct activity *out);

/*
 * Does container_find_process() (look/containerprocess.h): *out is the process of the lease's container that has this
 * number, in any PID namespace, and this start time. -1 with *why: there is none, or several (WHY_DENIED), or nothing
 * can be seen.
 */
int looker_ask_waiter(const struct lease *l, struct process_id asked, struct process_id *out, struct why *why);
/* Does openers_find() (look/nodeopeners.h). Returns 0, or -1 with *why if an opener may have been missed. */
int looker_ask_openers(const struct edit_node *node, size_t nodes, pid_t *opener, struct why *why);

/*
 * Does paths_find() (look/paths.h) for folders and the container's cgroups, and adds mounts to *e, lookup paths and
 * cgroups to *l, as paths_answer_give() does. A file system on the way may take it 8 s. -1 with *why. This must
 * be its first question, because the caller gets to see its text and paths: later it may have read strangers'
 * processes, and one of these may have taken it over. If it was asked before, it must say the same again.
 */
int looker_ask_folders_and_cgroups(struct paths_query *asked, struct edits *e, struct lease *l, struct why *why);

/* Asks the same question once more. 0 if the answer is the same, too; -1 with *why. */
int looker_ask_folders_and_cgroups_again(struct why *why);

/*
 * Does paths_find() for the driver's files, and adds their lookup paths to *l. Takes at most 3 s, for others wait for
 * the lock meanwhile. -1 with *why.
 */
int looker_ask_files(struct strlist *files, struct lease *l, struct why *why);

#endif
