/* Decodes a question of the helper (ask/readask.h). */
#ifndef GPUHELPER_READ_READQUESTION_H
#define GPUHELPER_READ_READQUESTION_H

#include "../ask/readask.h"

/*
 * Decodes a question. The files' names and texts in *out point into «bytes»; the caller frees out->file.
 * Returns false with *why for anything that read_ask_pack() of this version does not make.
 */
bool read_ask_unpack(const char *bytes, size_t len, struct read_ask *out, struct why *why);

#endif
