/*
 * Answers of gpuhelper-read (reader.h), kept in /run/gpuhelper/read, so that a question that was asked before needs no
 * program. An answer depends only on the program, on whether memory was short, and on the question, which contains all
 * bytes of the files. So an answer can't be out of date.
 */
#ifndef GPUHELPER_ROOT_CHILD_ANSWERCACHE_H
#define GPUHELPER_ROOT_CHILD_ANSWERCACHE_H

#include "../../host/own/exchange.h"

/* Does exchange_find() (host/own/exchange.h) in that directory. */
bool answer_cache_find(const char *name, const struct stat *program, struct exchange *x);

/* Keeps a checked answer instead of the one before it. Does nothing if it is too large, or can't be written. */
void answer_cache_write(const char *name, const struct stat *program, const struct exchange *x);

/* Removes an answer that is wrong. */
void answer_cache_remove(const char *name);

#endif
