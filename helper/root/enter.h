/* Make the process ours: nothing of what the caller set up around it may matter any more. */
#ifndef GPUHELPER_ROOT_ENTER_H
#define GPUHELPER_ROOT_ENTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../pure/why.h"

#define ENTER_GROUPS_MAX 65536

/*
 * How requests come in: by a user who executes the setuid program, or over a
 * connection to a socket of root's (systemd's gpuhelper.socket).
 */
enum door { DOOR_SETUID, DOOR_SOCKET };

/* Who started us, as the kernel says; taken before any id is changed. */
struct starter {
	uid_t uid;		/* real */
	gid_t gid;
	gid_t *groups;		/* supplementary; owned */
	size_t group_count;
	pid_t parent;
};

/*
 * Runs the steps in their order (enter.c). Afterwards the process has descriptors 0 to 2, the channels to its looker
 * (looker.h) and, where SELinux is on, to gpuhelper-label (labeller.h), and, at the door of the setuid bit, its place
 * in crowd.h; an end of its life that nothing moves, an empty environment, all ids 0, no dumps, default signals, the
 * few capabilities that this program uses, and no way to start another process. Before it returns nothing is read,
 * logged or opened by a name that the caller chose.
 * Refuses where the process is not what its door makes it: setuid, or root's
 * from the start.  1: there are too many of who started it already, and it is to
 * end without a word (crowd.h).
 */
int enter(enum door door, struct starter *who, struct why *why);

/*
 * Gives the process back to who started it, at its very end: what is left of it until
 * its parent has asked for it counts against that one's limit (RLIMIT_NPROC), not
 * as one of root's, of which there could be without end.  From then on he can stop it: no lock may be held.
 */
void leave(const struct starter *who);

#endif
