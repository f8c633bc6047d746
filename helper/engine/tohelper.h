/*
 * What gpuhelper-engine says to the helper and hears from it (ask/enginequery.h), over the one channel that it has. It
 * asks gpuhelper-judge over the same channel: the helper passes questions and answers on, and reads
 * only that about the host's GPUs.
 */
#ifndef GPUHELPER_ENGINE_TOHELPER_H
#define GPUHELPER_ENGINE_TOHELPER_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/text.h"
#include "../base/why.h"

/* Waits for a question. The caller frees the *len bytes; NULL: there will be none. */
char *helper_receive_query(size_t *len);

/* Sends the byte «kind» (ENGINE_*), and these bytes. False: the helper does not listen. */
bool helper_send(char kind, const struct buf *bytes);

/* Waits for what follows after a question for the judge. The caller frees the *len bytes; NULL with *why. */
char *helper_receive(size_t *len, struct why *why);

#endif
