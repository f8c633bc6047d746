/*
 * Birth records: what root's wrapper saw of a container when the runtime had made it, before any of its code ran. Later
 * root changes device rules and ends processes at the helper's word (pure/chore.h), or at a lease's. It does so only
 * for a container that it saw itself: a reply or a lease that is forged must not name another process, another cgroup,
 * or a device that is no GPU's.
 *
 * A record is a file of root's in GPUHELPER_RUNDIR/births, named by the lease's key (lease_key()).
 */
#ifndef GPUHELPER_USER_BIRTH_H
#define GPUHELPER_USER_BIRTH_H

#include <stdbool.h>

#include "../pure/chore.h"
#include "../pure/why.h"

struct birth {
	struct process_id init;		/* the container's first process */
	uint64_t pids;			/* the PID namespace whose numbers these are */
	char *gate;			/* the cgroup with its device rules, relative to /sys/fs/cgroup; NULL: none */
	struct strlist cgroups;		/* those that hold it alone, likewise */
};
void birth_free(struct birth *b);

/* Looks at the container's first process. Returns 0; or -1 with *why. birth_free() in any case. */
int birth_see(struct process_id init, struct birth *b, struct why *why);

/* Writes the record. Only for the host's root. Returns 0, or -1 with *why. */
int birth_record(const char *key, const struct birth *b, struct why *why);

/*
 * Checks that the record of the chore's lease has the same first process, device rules and cgroups, and that all nodes
 * of the chore are GPUs'. Returns 0; or -1 with *why (WHY_DENIED): it is not to be done.
 */
int birth_check_chore(const struct chore *c, struct why *why);

/* The same for a container whose first process and cgroups a lease names. */
int birth_check(const char *key, const char *id, struct process_id init, const struct strlist *cgroups,
    struct why *why);

/* Removes a record. Does nothing for others than the host's root. */
void birth_forget(const char *key);
/* Removes the records of containers whose first process has ended. Does nothing for others than the host's root. */
void births_clean(void);

#endif
