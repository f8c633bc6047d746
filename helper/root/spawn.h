/*
 * Processes that the helper starts before it hears anyone (enter.c): a copy of itself (looker.h), or another program of
 * ours, which is executed, so that it has nothing of this process in its memory.
 */
#ifndef GPUHELPER_ROOT_SPAWN_H
#define GPUHELPER_ROOT_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "../pure/why.h"

/*
 * The descriptors of such a process, beside /dev/null as 0 to 2: a stream socket, by which it speaks to the helper; and
 * the helper's place (crowd.h), or /dev/null where there is none, so that who can't be ended counts as his user's.
 */
enum { SPAWN_CHANNEL = 3, SPAWN_PLACE, SPAWN_PROGRAM };

/* In the new process: it has these, *program (NULL: none) as SPAWN_PROGRAM until it executes one, and no other. */
bool spawn_settle(int channel, int *program);

/* In the new process: it ends with its parent, also where that has ended by now. */
void spawn_end_with(pid_t parent);

/*
 * Starts the program of that name, which lies beside the helper's and is root's: once something comes by the channel,
 * and not if nothing does.  Its environment is empty.  *channel is this end, close-on-exec.  -1 with *why.
 */
int spawn_program(const char *name, pid_t *pid, int *channel, struct why *why);

#endif
