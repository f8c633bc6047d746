/* Reads questions of the helper to gpuhelper-label (ask/labelquery.h). */
#ifndef GPUHELPER_LABEL_LABELQUESTION_H
#define GPUHELPER_LABEL_LABELQUESTION_H

#include "../ask/labelquery.h"

/* Checks that the bytes are a question of this version; all its texts then end with a NUL. False with *why. */
bool label_query_read(const char *bytes, size_t len, struct label_query *out, struct why *why);

/* Makes an answer that holds nothing but the version. */
void label_answer_begin(struct label_answer *a);

#endif
