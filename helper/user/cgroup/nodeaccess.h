/*
 * Whether cgroups above a container deny it the nodes that it is granted. A worker that runs in a container of its
 * own, or in a service with DeviceAllow=, may be in a cgroup that denies GPUs; no container beneath can open them then.
 * Nothing here opens a node, because that wakes the GPU. access(2) fails with EPERM where a device cgroup denies the
 * node, and with EACCES where the node's mode or ACL does.
 */
#ifndef GPUHELPER_USER_CGROUP_NODEACCESS_H
#define GPUHELPER_USER_CGROUP_NODEACCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../lease/edits.h"

/* Nodes, and which of them a device cgroup denies. */
struct node_access {
	struct edit_node *node;
	bool *denied;		/* one for each node */
	size_t nodes, denials;
};
void node_access_free(struct node_access *a);
#define autonodeaccess __attribute__((cleanup(node_access_free)))

/*
 * Fills *out with the nodes of the edits, and with which of them the device cgroup of this process denies. A node that
 * does not exist counts as not denied. Returns 0, or -1 with *why. The caller calls node_access_free() in any case.
 */
int node_access_of(const struct edits *e, struct node_access *out, struct why *why);

/*
 * The same for the device cgroup of process «pid»; *a is as node_access_of() left it. With cgroup v1, nodes that do not
 * exist count, too. False, with *a as it was, if that can't be seen: v2 shows nobody its rules, so the answer for this
 * process must hold for the other one.
 */
bool node_access_of_process(struct node_access *a, pid_t pid);

/* Writes which nodes are denied, and the options that the worker's own container needs. */
void node_access_tell(const struct node_access *a, struct buf *what, struct buf *fix);

/* Refuses the denied nodes. Returns -1. */
int node_access_refuse(const struct node_access *a, struct why *why);

/*
 * True if a container with this cgroupsPath and id will lack a node, whichever of its possible cgroups the runtime
 * makes. False if that is not certain.
 */
bool node_access_is_lost(const struct node_access *a, const char *cgroups_path, const char *id);

/*
 * Explains why a runtime could not make a container with this cgroupsPath and id. True, with *why, if the cgroup above
 * one of the container's possible cgroups denies a node; *a then says which nodes. False with cgroup v2, whose rules
 * never make a runtime fail.
 */
bool node_access_explain(struct node_access *a, const char *cgroups_path, const char *id, struct why *why);

/*
 * Checks a container that a runtime has just made, with the first process «init». Refuses one whose cgroup is that of
 * this process, or lies beneath it, if that cgroup denies a node. Returns 0, or -1 with *why.
 */
int node_access_check_beneath(const struct node_access *a, pid_t init, struct why *why);

/*
 * Checks root's container in the cgroup «cgroup», relative to /sys/fs/cgroup. With v1, a runtime itself fails if a
 * cgroup above denies what the container is to have. With v2 it does not notice: if a cgroup above has rules, a child
 * of this process enters the container's cgroup and asks the kernel. Returns 0, or -1 with *why.
 */
int node_access_check_inside(const struct node_access *a, const char *cgroup, struct why *why);

#endif
