/* The questions of the helper as gpuhelper-look reads them, and the beginning of its answers (ask/lookquery.h). */
#ifndef GPUHELPER_LOOK_LOOKQUESTION_H
#define GPUHELPER_LOOK_LOOKQUESTION_H

#include "../ask/lookquery.h"

/* True for a question about paths, and not about a lease. */
bool look_query_is_of_paths(const char *bytes, size_t len);

/*
 * Unpacks a question about a lease. False for bytes that look_query_pack() of this build does not make. The caller
 * frees *l always.
 */
bool look_query_unpack(const char *bytes, size_t len, struct look_query *a, struct lease *l);
/* The same for LOOK_PATHS: the caller frees *paths always. */
bool look_paths_unpack(const char *bytes, size_t len, struct look_query *a, struct paths_query *paths);
void paths_query_free(struct paths_query *a);
#define autopathsquery __attribute__((cleanup(paths_query_free)))

/* An answer of this build, without anything else. nonce: of the question; 0 if it was not answered. */
struct look_answer look_answer_begin(uint64_t nonce);

/* A struct activity as the bits of a number. */
uint32_t activity_pack(const struct activity *s);

#endif
