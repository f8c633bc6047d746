/*
 * Messages to and from gpuhelper-judge (judgequery.h): what the helper must know of them, which passes them on for
 * gpuhelper-engine.
 */
#ifndef GPUHELPER_ASK_JUDGEPASS_H
#define GPUHELPER_ASK_JUDGEPASS_H

#include "../gpu/gpu.h"

/*
 * keys of the most issuers, each byte as %XX, are 24 MiB; the rest is policies, as large as gpuhelper-read
 * may make them
 */
#define JUDGE_QUERY_MAX (256U << 20)
#define JUDGE_ANSWER_MAX (16U << 20)	/* mostly folders */

/* True for the question about the host's GPUs. It has no word but the version and the vendors, so nobody's. */
bool judge_ask_is_host(const char *question, size_t len);
/* Reads the answer. False if it has no GPUs. The caller frees *out by inventory_free() in any case. */
bool judge_answer_host(const char *answer, size_t len, struct inventory *out);

#endif
