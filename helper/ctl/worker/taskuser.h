/* The user for whom folders are checked if there is no config.json. */
#ifndef GPUHELPER_CTL_WORKER_TASKUSER_H
#define GPUHELPER_CTL_WORKER_TASKUSER_H

#include "../../host/access.h"

/* A container's first process.  «subject» points into the maps, so the struct must not be copied. */
struct task_user {
	struct idmap uids, gids;
	struct subject subject;
};

/*
 * Sets *out to root, with a task's capabilities, in a container with a user namespace as this user's worker creates it.
 * For root that worker is Concourse's, which maps root to 4294967294.  For others it is a rootless engine, which maps
 * root to the user and further ids to the user's ranges in /etc/subuid.  «name» may be NULL.
 */
void task_user_of(uint32_t uid, const char *name, struct task_user *out);

#endif
