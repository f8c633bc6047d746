/* Questions of the helper, as gpuhelper-label takes them (pure/labelask.h). */
#ifndef GPUHELPER_LABEL_QUESTION_H
#define GPUHELPER_LABEL_QUESTION_H

#include "../pure/labelask.h"

/* Sees that the bytes are a question of this version; all its texts end then. False with *why. */
bool label_ask_read(const char *bytes, size_t len, struct label_ask *out, struct why *why);

/* An answer with nothing in it but the version. */
void label_answer_begin(struct label_answer *a);

#endif
