/* The looker itself (looker.h): what runs in its process. Questions and answers are frames of pure/lookask.h. */
#ifndef GPUHELPER_ROOT_LOOKERLOOP_H
#define GPUHELPER_ROOT_LOOKERLOOP_H

#include <sys/types.h>

#define LOOKER_ASK_MAX (1U << 20)
#define LOOKER_ANSWER_MAX (64U << 10)

/*
 * Answers questions on the descriptor until the other end of it is closed, or the process «helper», our parent,
 * ends. Never returns.
 */
_Noreturn void looker_live(int fd, pid_t helper);

#endif
