/*
 * The helper's side of gpuhelper-judge, a program that first finds the host's GPUs, then parses untrusted text (tokens,
 * instance variables), and decides requests. gpuhelper-engine asks it (engine/tojudge.h); the helper starts it, and
 * passes questions and answers on (engine.h).
 */
#ifndef GPUHELPER_ROOT_CHILD_JUDGE_H
#define GPUHELPER_ROOT_CHILD_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../base/why.h"

/*
 * Starts the program, or, where libudev must be asked about nodes, gpuhelper-judge-udev: the same with that library. A
 * driver that is loaded later makes the question about the GPUs fail (host/gpu/nodrm.h). To be called before
 * filter_install(). If this fails, every question fails with the reason.
 */
void judge_start(void);

/* Passes it a question of gpuhelper-engine's. -1 with *why: it gets no other question. */
int judge_pass(const char *question, size_t len, struct why *why);
/* Waits for the answer, *len bytes, which the caller frees. about_host: the judge looks at the host. NULL with *why. */
char *judge_receive(bool about_host, size_t *len, struct why *why);

#endif
