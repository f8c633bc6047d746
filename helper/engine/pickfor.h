/* Picks GPUs for the request that was authorized. */
#ifndef GPUHELPER_ENGINE_PICKFOR_H
#define GPUHELPER_ENGINE_PICKFOR_H

#include "../ask/pickquery.h"
#include "authorize.h"

/* 0, or -1 with *why, as allocate_gpus(). */
int pick_for_request(const struct authorized *r, const struct pick_query *a, struct pick_answer *out, struct why *why);

#endif
