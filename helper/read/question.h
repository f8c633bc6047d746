/* A question of the helper's, read (pure/readask.h). */
#ifndef GPUHELPER_READ_QUESTION_H
#define GPUHELPER_READ_QUESTION_H

#include "../pure/readask.h"

/*
 * Back; the files' names and texts lie in the bytes.  False with *why for what read_ask_pack() of this version does not
 * make.
 */
bool read_ask_unpack(const char *bytes, size_t len, struct read_ask *out, struct why *why);

#endif
