/* Makes the process ours: nothing that the caller set up around it may matter afterwards. */
#ifndef GPUHELPER_ROOT_ENTER_H
#define GPUHELPER_ROOT_ENTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../pure/why.h"

#define ENTER_GROUPS_MAX 65536

/*
 * How a request comes in: from a user who executes the setuid program, or over a connection to root's socket
 * (systemd's gpuhelper.socket).
 */
enum door { DOOR_SETUID, DOOR_SOCKET };

/* Who started us, as the kernel says. Taken before any id is changed. */
struct starter {
	uid_t uid;		/* real */
	gid_t gid;
	gid_t *groups;		/* supplementary; owned */
	size_t group_count;
	pid_t parent;
};

/*
 * Runs the steps of enter.c in their order. Afterwards the process has:
 * - descriptors 0 to 2, the channels to its looker (looker.h) and, if SELinux is on, to gpuhelper-label (labeller.h),
 *   and, with the setuid bit, its place (crowd.h);
 * - an end of its life that nothing moves, an empty environment, all ids 0, no dumps, default signals, the few
 *   capabilities that this program uses, and no way to start another process.
 * Until it returns, nothing is read, logged or opened by a name that the caller chose. -1 with *why: also if the
 * process is not what its door requires: setuid, or root's from the start. 1: the starter has too many helpers
 * already, and this one must end without a word (crowd.h).
 */
int enter(enum door door, struct starter *who, struct why *why);

/*
 * Gives the process back to its starter, at its very end. Until its parent reaps it, it counts against the starter's
 * limit (RLIMIT_NPROC). As root's processes, there could be any number of them. From then on the starter can stop it:
 * no lock may be held.
 */
void leave(const struct starter *who);

#endif
