/*
 * Birth records: what root's wrapper saw of a container when the runtime had made it, before any of its code ran. Later
 * root changes device rules and ends processes at the helper's word (lease/chore.h), or at a lease's. It does so only
 * to a container that it saw itself, with the process, the cgroups and the devices of the record: of a reply it takes
 * only what to do, and which of the recorded devices are to be open.
 *
 * A record is a file in a directory of root's (births.h), named by the lease's key (lease_key()).
 */
#ifndef GPUHELPER_USER_RECORD_BIRTH_H
#define GPUHELPER_USER_RECORD_BIRTH_H

#include <stdbool.h>

#include "../../base/why.h"
#include "../../kernel/devnum.h"
#include "../../lease/chore.h"

struct birth {
	struct process_id init;		/* the container's first process */
	uint64_t pids;			/* the PID namespace whose numbers these are */
	bool promised;			/* its GPUs are only promised: chores may concern it */
	char *devcgroup;			/* the cgroup with its device rules, relative to /sys/fs/cgroup; NULL: none */
	struct strlist cgroups;		/* those that hold it alone, likewise */
	struct devnum *node;		/* the GPUs' nodes that it was granted or promised */
	size_t nodes;
};
void birth_free(struct birth *b);

/* Looks at the first process of a container. Returns 0; or -1 with *why. birth_free() in any case. */
int birth_see(struct process_id init, struct birth *b, struct why *why);

/* Writes the record. Returns 0, or -1 with *why. */
int birth_record(const char *key, const struct birth *b, struct why *why);

/*
 * Reads the record, and compares it with what a lease says of this container («id», for messages). Returns 0, with the
 * record in *b; or -1 with *why (WHY_DENIED) if there is none, or the first process or a cgroup differs: nothing is to
 * be done to the container. birth_free() in any case.
 */
int birth_check(const char *key, const char *id, struct process_id init, const struct strlist *cgroups, struct birth *b,
    struct why *why);

/*
 * The same for a chore. It must also be of the same device cgroup, for a container with promised GPUs, and ask for no
 * device but the recorded ones, which must be GPUs'.
 */
int birth_check_chore(const struct chore *c, struct birth *b, struct why *why);

/* True if the record's process numbers are of this process's PID namespace. */
bool birth_has_our_numbers(const struct birth *b);

/* Removes the record in the directory (births.h), unless its container lives. */
void birth_clean(int dir, const char *key);

#endif
