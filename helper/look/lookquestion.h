/* The questions of the helper as gpuhelper-look reads them, and the beginning of its answers (ask/lookask.h). */
#ifndef GPUHELPER_LOOK_LOOKQUESTION_H
#define GPUHELPER_LOOK_LOOKQUESTION_H

#include "../ask/lookask.h"

/* Unpacks a question. False for bytes that look_ask_pack() of this build does not make. The caller frees *l always. */
bool look_ask_unpack(const char *bytes, size_t len, struct look_ask *a, struct lease *l);

/* An answer of this build, without anything else. nonce: of the question; 0 if it was not answered. */
struct look_answer look_answer_begin(uint64_t nonce);

/* A struct activity as the bits of a number. */
uint32_t activity_pack(const struct activity *s);

#endif
