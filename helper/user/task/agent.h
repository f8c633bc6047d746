/*
 * The agent: a process of the wrapper's that stays beside the runtime while a task waits and runs (ask/waiting.h). It
 * has root take the container's GPUs for the task, opens the container's access to them, and gives them back when the
 * task is over. It is no lease: if it is killed, the task that waits ends, a task that runs keeps its GPUs, and root's
 * timer gives them back (root/end/idle.h).
 */
#ifndef GPUHELPER_USER_TASK_AGENT_H
#define GPUHELPER_USER_TASK_AGENT_H

#include "../../policy/settings.h"
#include "../command/argv.h"
#include "waiter.h"

/*
 * Starts the agent for the waiter *w. It prints these lines in the task's log first, with what else concerns the
 * GPU. Closes this process's end of the socket pair. Returns 0, or -1 with *why.
 */
int agent_start(const struct command *c, const struct settings *s, struct waiter *w, const struct strlist *lines,
    struct why *why);

#endif
