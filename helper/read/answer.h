/* Answers a question of the helper (ask/readquery.h). */
#ifndef GPUHELPER_READ_ANSWER_H
#define GPUHELPER_READ_ANSWER_H

#include "../ask/readquery.h"

/* Returns the answer, *len bytes, which the caller frees. NULL if memory is short. */
char *read_answer(const struct read_query *a, size_t *len);

/* The same for a question that can't be read; «wrong» says why. */
char *read_answer_wrong(const char *wrong, size_t *len);

#endif
