/* What the agent does for its task: takes GPUs that the container was promised, and gives them back. */
#ifndef GPUHELPER_USER_TASK_TASKGPUS_H
#define GPUHELPER_USER_TASK_TASKGPUS_H

#include "../../kernel/processid.h"
#include "../../policy/settings.h"
#include "../ask/ask.h"
#include "../command/argv.h"

/* A task that waits for GPUs, or has them. */
struct task {
	const struct command *command;
	const struct settings *settings;
	int socket;			/* to the waiter */
	int pidfd;			/* of its process, which becomes the task */
	struct process_id waiter;
	struct helper_conn early;	/* of task_ask_early(), until its answer is here */
};

/* Prints a line in the task's log, if the task still waits. */
void task_tell(const struct task *t, const char *line);

/* Asks for the GPUs before the runtime has started the waiter. Whatever fails, task_acquire_gpus() asks again. */
void task_ask_early(struct task *t);

/* Waits for the GPUs, takes them, and gives them back when the task has ended. Returns when nothing is left to do. */
void task_acquire_gpus(struct task *t);

#endif
