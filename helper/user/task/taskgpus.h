/* What the agent does for its task: takes GPUs that the container was promised, and gives them back. */
#ifndef GPUHELPER_USER_TASK_TASKGPUS_H
#define GPUHELPER_USER_TASK_TASKGPUS_H

#include "../../kernel/processid.h"
#include "../../policy/settings.h"
#include "../command/argv.h"

/* A task that waits for GPUs, or has them. */
struct task {
	const struct command *command;
	const struct settings *settings;
	int socket;			/* to the waiter */
	int pidfd;			/* of its process, which becomes the task */
	struct process_id waiter;
};

/* Prints a line in the task's log, if the task still waits. */
void task_tell(const struct task *t, const char *line);

/* Waits for the GPUs, takes them, and gives them back when the task has ended. Returns when nothing is left to do. */
void task_acquire_gpus(struct task *t);

#endif
