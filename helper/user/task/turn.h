/* A task's turn at the GPUs that its container was promised: waits, takes them, and gives them back. */
#ifndef GPUHELPER_USER_TASK_TURN_H
#define GPUHELPER_USER_TASK_TURN_H

#include "../../kernel/processid.h"
#include "../../policy/settings.h"
#include "../command/argv.h"

struct turn {
	const struct command *command;
	const struct settings *settings;
	int socket;			/* to the waiter */
	int pidfd;			/* of its process, which becomes the task */
	struct process_id waiter;
};

/* Prints a line in the task's log, if the task still waits. */
void turn_tell(const struct turn *t, const char *line);

/* Does all of it. Returns when the GPUs are given back, or when there is nothing left to do. */
void turn_take(struct turn *t);

#endif
