/*
 * What the helper has its caller do, with the caller's rights: to end a
 * container's access to device nodes takes CAP_SYS_ADMIN, to end its processes
 * signals, and the helper has neither: its filter lets it end its own children
 * alone.  It gives chores only to root of the host, who could do all of this anyway.
 *
 * Whoever does one holds the lock CHORE_LOCK of the lease meanwhile, and first looks
 * into the lease: one that was stalled and comes late must not undo what another
 * has done since.
 */
#ifndef GPUHELPER_PURE_CHORE_H
#define GPUHELPER_PURE_CHORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devnum.h"
#include "jsonout.h"
#include "processid.h"
#include "text.h"

#define CHORE_LOCK "gate-"	/* and the lease's key: a file beneath /run/gpuhelper/locks */

enum chore_kind {
	CHORE_SHUT,	/* the container may not open these nodes any more */
	CHORE_OPEN,	/* it may again */
	CHORE_CLEAR,	/* end all processes in its cgroups but its first one; then CHORE_SHUT */
	CHORE_STOP,	/* end its first process */
};
#define CHORE_KINDS 4
extern const char *const chore_kind_names[CHORE_KINDS];

struct chore {
	enum chore_kind kind;
	char lease[65];			/* key of the lease that it is for */
	char *file;			/* name of that one's file, beneath /run/gpuhelper/leases */
	char *id;			/* container id, for messages */
	char *gate;			/* the cgroup that holds its device rules, relative to /sys/fs/cgroup */
	struct strlist cgroups;		/* the container's own, likewise */
	struct devnum *node;
	size_t nodes;
	struct process_id init;		/* the container's first process */
	struct process_id by;		/* who is to do it, as the lease says while it is still to be done */
};

struct chores {
	struct chore *v;
	size_t n;
};

/* A new one to be filled in, valid until the next one is added; NULL: no memory. */
struct chore *chores_add(struct chores *c);
bool chore_add_node(struct chore *c, uint32_t major, uint32_t minor);
void chores_free(struct chores *c);
#define autochores __attribute__((cleanup(chores_free)))

/* As an array of JSON. */
void chores_write(struct jsonout *j, const char *key, const struct chores *c);

#endif
