/*
 * What gpuhelper-engine says to the helper and hears from it (ask/engineask.h), over the one channel that it has. It
 * asks gpuhelper-judge over the same channel: the helper passes questions and answers on, and reads
 * only that about the host's GPUs.
 */
#ifndef GPUHELPER_ENGINE_RELAY_H
#define GPUHELPER_ENGINE_RELAY_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/text.h"
#include "../base/why.h"

/* Waits for a question. The caller frees the *len bytes; NULL: there will be none. */
char *relay_question(size_t *len);

/* Sends the byte «kind» (ENGINE_*), and these bytes. False: the helper does not listen. */
bool relay_say(char kind, const struct buf *bytes);

/* Waits for what follows after a question for the judge. The caller frees the *len bytes; NULL with *why. */
char *relay_hear(size_t *len, struct why *why);

#endif
