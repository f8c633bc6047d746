/* The peer: the process that asks, and its user. */
#ifndef GPUHELPER_ROOT_ENTER_PEER_H
#define GPUHELPER_ROOT_ENTER_PEER_H

#include "../../host/process/process.h"
#include "../../kernel/idmap.h"
#include "../../policy/policygrant.h"
#include "enter.h"

struct peer {
	struct client client;
	uid_t starter;		/* who started this helper: the caller itself (setuid), or root (socket) */
	uint32_t gid;
	pid_t pid;		/* the process that asks, and becomes the runtime or starts it */
	uint64_t start;		/* its start time: with pid and boot it identifies the process */
	char boot[40];		/* boot id */
	char *user;		/* owned; client.user points to it */
	struct idmap uids, gids;	/* from its user namespace to ours */
};

/* Finds the peer of a setuid helper: the process that started it. -1 with *why. peer_free() in either case. */
int peer_of_starter(const struct starter *s, struct peer *peer, struct why *why);

/*
 * Finds the peer of the connection on descriptor 0. It must be root, or a member of group gpuhelper by /etc/group.
 * Its root directory must be this system's, and its user namespace must be ours or one that its own user made: a
 * container's processes may not ask. -1 with *why. peer_free() in either case.
 */
int peer_of_socket(const struct starter *s, struct peer *peer, struct why *why);
void peer_free(struct peer *peer);

/* Gets the id maps from the user namespace of a process to ours. -1 with *why. */
int maps_of_process(pid_t pid, struct idmap *uids, struct idmap *gids, struct why *why);

#endif
