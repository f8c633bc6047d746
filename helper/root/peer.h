/* Who asks. */
#ifndef GPUHELPER_ROOT_PEER_H
#define GPUHELPER_ROOT_PEER_H

#include "../host/process.h"
#include "../pure/grant.h"
#include "../pure/idmap.h"
#include "enter.h"

struct peer {
	struct asker asker;
	uid_t starter;		/* who started this process: itself at the setuid door, root at the socket's */
	uint32_t gid;
	pid_t pid;		/* the process that asks, and becomes the runtime */
	uint64_t start;		/* its start time: with the pid and the boot it is that process and no other */
	char boot[40];		/* boot id */
	char *user;		/* owned; asker.user points to it */
	struct idmap uids, gids;	/* from its user namespace to ours */
};

/* Of the process that started the setuid helper. */
int peer_of_starter(const struct starter *s, struct peer *p, struct why *why);

/*
 * Of the process that made the connection which is descriptor 0.  Only members
 * of group gpuhelper by /etc/group, and root; only processes whose root directory is
 * this system's, and whose user namespace is ours or was made by their own user:
 * a container's processes are no one who asks.
 */
int peer_of_socket(const struct starter *s, struct peer *p, struct why *why);
void peer_free(struct peer *p);

/* From the user namespace of a process to ours.  -1 with *why. */
int maps_of_process(pid_t pid, struct idmap *uids, struct idmap *gids, struct why *why);

#endif
