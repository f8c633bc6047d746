/* Whom a folder is judged for where no config.json says more. */
#ifndef GPUHELPER_CTL_TASKUSER_H
#define GPUHELPER_CTL_TASKUSER_H

#include "../host/access.h"

/* The first process of such a container; «subject» points into the maps, so that it can't be copied. */
struct task_user {
	struct idmap uids, gids;
	struct subject subject;
};

/*
 * Root of a container with a user namespace, as this user's worker makes one:
 * Concourse's for root (4294967294 here), a rootless engine's for others (the user
 * himself, and his ids of /etc/subuid).  It has the capabilities of a task's root.
 * «name» may be NULL.
 */
void task_user_of(uint32_t uid, const char *name, struct task_user *out);

#endif
