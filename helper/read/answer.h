/* A question of the helper's (pure/readask.h), and what there is to say. */
#ifndef GPUHELPER_READ_ANSWER_H
#define GPUHELPER_READ_ANSWER_H

#include "../pure/readask.h"

/* The answer's bytes, *len of them, which the caller frees; NULL: no memory. */
char *read_answer(const struct read_ask *a, size_t *len);

/* The answer to a question that is none, likewise. */
char *read_answer_wrong(const char *wrong, size_t *len);

#endif
