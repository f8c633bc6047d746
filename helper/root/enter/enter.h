/* Takes the process over from its caller: afterwards nothing that the caller set up around it has an effect. */
#ifndef GPUHELPER_ROOT_ENTER_ENTER_H
#define GPUHELPER_ROOT_ENTER_ENTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../base/why.h"

#define ENTER_GROUPS_MAX 65536

/*
 * How a request arrives: a user executes the setuid program, or connects to root's socket (systemd's
 * gpuhelper.socket).
 */
enum door { DOOR_SETUID, DOOR_SOCKET };

/* The process and user that started this one, as the kernel reports them before any id is changed. */
struct starter {
	uid_t uid;		/* real */
	gid_t gid;
	gid_t *groups;		/* supplementary; owned */
	size_t group_count;
	pid_t parent;
	bool of_root;		/* root asks: behind the socket, its peer is root's */
};

/*
 * Runs the steps of enter.c in their order. Afterwards the process has:
 * - descriptors 0 to 2 and, behind the setuid bit, its slot (slots.h);
 * - a timer that will kill it and that nothing can postpone, an empty environment, all ids 0, no core dumps, and
 *   default signals.
 * Until then it reads, logs and opens nothing by a name that the caller chose. -1 with *why: also if the process is
 * not what its door requires: setuid, or started by root. 1: the starter has too many helpers already, and this one
 * must end without an answer (slots.h).
 */
int enter(enum door door, struct starter *who, struct why *why);

/*
 * After the children are started (spawn.h): keeps only the capabilities that this program uses, and installs its
 * filter, by which it can start no other process. labeller_channel: see filter.h. -1 with *why.
 */
int enter_sandbox(enum door door, const struct starter *who, int labeller_channel, struct why *why);

/*
 * Sets all ids to the starter's, just before the process ends. So the zombie counts against the starter's limit
 * (RLIMIT_NPROC) until its parent reaps it; a parent could leave any number of zombies of root. The starter can stop
 * the process from then on, so it may hold no lock.
 */
void leave(const struct starter *who);

#endif
