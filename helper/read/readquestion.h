/* Decodes a question of the helper (ask/readquery.h). */
#ifndef GPUHELPER_READ_READQUESTION_H
#define GPUHELPER_READ_READQUESTION_H

#include "../ask/readquery.h"

/*
 * Decodes a question. The files' names and texts in *out point into «bytes»; the caller frees out->file.
 * Returns false with *why for anything that read_query_pack() of this version does not make.
 */
bool read_query_unpack(const char *bytes, size_t len, struct read_query *out, struct why *why);

#endif
