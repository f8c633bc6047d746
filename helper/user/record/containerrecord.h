/*
 * Container records (in messages: birth records): what root's wrapper saw of a container when the runtime had made it,
 * before any of its code ran. Later root changes device rules and ends processes because an operation
 * (lease/callerop.h) or a lease says so. It does so only to a container that it saw itself, with the process, the
 * cgroups and the devices of the record: of a reply it takes only what to do, and which of the recorded devices are to
 * be open.
 *
 * A record is a file in a directory of root's (recorddir.h), named by the lease's key (lease_key()).
 */
#ifndef GPUHELPER_USER_RECORD_CONTAINERRECORD_H
#define GPUHELPER_USER_RECORD_CONTAINERRECORD_H

#include <stdbool.h>

#include "../../base/why.h"
#include "../../kernel/devnum.h"
#include "../../lease/callerop.h"

struct container_record {
	struct process_id init;		/* the container's first process */
	uint64_t pids;			/* the PID namespace whose numbers these are */
	bool promised;			/* its GPUs are only promised: operations may be about it */
	char *devcgroup;		/* the cgroup with its device rules, relative to /sys/fs/cgroup; NULL: none */
	struct strlist cgroups;		/* those that hold it alone, likewise */
	struct devnum *node;		/* the GPUs' nodes that it was granted or promised */
	size_t nodes;
};
void container_record_free(struct container_record *r);

/* Looks at the first process of a container. Returns 0; or -1 with *why. container_record_free() in any case. */
int container_record_fill(struct process_id init, struct container_record *r, struct why *why);

/* Writes the record. Returns 0, or -1 with *why. */
int container_record_write(const char *key, const struct container_record *r, struct why *why);

/*
 * Reads the record, and compares it with what a lease says of this container («id», for messages). Returns 0, with the
 * record in *r; or -1 with *why (WHY_DENIED) if there is none, or the first process or a cgroup differs: nothing is to
 * be done to the container. container_record_free() in any case.
 */
int container_record_check(const char *key, const char *id, struct process_id init, const struct strlist *cgroups,
    struct container_record *r, struct why *why);

/*
 * The same for an operation. It must also be of the same device cgroup, for a container with promised GPUs, and ask for
 * no device but the recorded ones, which must be GPUs'.
 */
int container_record_check_op(const struct caller_op *c, struct container_record *r, struct why *why);

/* True if the record's process numbers are of this process's PID namespace. */
bool container_record_has_our_pids(const struct container_record *r);

/* Removes the record in the directory (recorddir.h), unless its container lives. */
void container_record_clean(int dir, const char *key);

#endif
