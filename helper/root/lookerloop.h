/* The loop of the looker's process (looker.h). Questions and answers are frames of pure/lookask.h. */
#ifndef GPUHELPER_ROOT_LOOKERLOOP_H
#define GPUHELPER_ROOT_LOOKERLOOP_H

#include <sys/types.h>

#define LOOKER_ASK_MAX (1U << 20)
#define LOOKER_ANSWER_MAX (64U << 10)
#define LOOKER_EAGER 1		/* the byte that wakes the looker and has it start the process that looks; otherwise 0 */

/*
 * Answers the questions on this descriptor until its other end is closed, or until our parent, the process «helper»,
 * ends. Never returns.
 */
_Noreturn void looker_live(int fd, pid_t helper);

#endif
