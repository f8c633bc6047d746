/*
 * Operations that the helper has its caller do, with the caller's rights. To take a container's access to device
 * nodes away needs CAP_SYS_ADMIN, and to end its processes needs signals. The helper has neither: its filter
 * lets it end only its own children. It gives operations only to the host's root, who could do all of this
 * anyway.
 * Whoever does an operation holds the lease's lock DEVICE_LOCK meanwhile, and first reads the lease: a process that
 * stalled and comes late must not undo what another has done since.
 */
#ifndef GPUHELPER_LEASE_CALLEROP_H
#define GPUHELPER_LEASE_CALLEROP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/hash.h"
#include "../base/text.h"
#include "../json/jsonout.h"
#include "leasetasks.h"

#define DEVICE_LOCK "gate-"	/* followed by the lease's key: a file in /run/gpuhelper/locks */

enum op_kind {
	OP_DENY,	/* take the container's access to all these nodes away */
	OP_ALLOW,	/* give it access to those that are «allowed», and to no others */
	OP_CLEAR,	/* end all processes in its cgroups except its first one; then OP_DENY */
	OP_STOP,	/* end its first process */
};
#define OP_KINDS 4
extern const char *const op_kind_names[OP_KINDS];

struct caller_op {
	enum op_kind kind;
	char lease[HASH_SIZE];			/* key of the lease */
	char *file;			/* name of the lease's file in /run/gpuhelper/leases */
	char *id;			/* container id, for messages */
	char *devcgroup;			/* the cgroup that holds its device rules, relative to /sys/fs/cgroup */
	struct strlist cgroups;		/* the container's own cgroups, likewise */
	struct promised_node *node;	/* all that were promised */
	size_t nodes;
	struct process_id init;		/* the container's first process */
	struct process_id by;		/* the process that revokes the GPUs; pid 0: the lease is not about to change */
};

struct caller_ops {
	struct caller_op *v;
	size_t n;
};

/* Adds an operation to fill in, valid until the next call. NULL if memory is short. */
struct caller_op *caller_ops_add(struct caller_ops *c);
bool caller_op_add_node(struct caller_op *c, const struct promised_node *n);
void caller_ops_free(struct caller_ops *c);

/* Writes the operations as a JSON array. */
void caller_ops_write(struct jsonout *j, const char *key, const struct caller_ops *c);

#endif
