/* The answers of gpuhelper-engine (ask/enginequery.h) about the GPUs that it has authorized. */
#ifndef GPUHELPER_ENGINE_ANSWERING_H
#define GPUHELPER_ENGINE_ANSWERING_H

#include "../ask/enginequery.h"
#include "authorize.h"

/* 0, or -1 with out->why. */
int answer_about_gpus(const struct authorized *r, const struct host *h, const struct engine_query *a,
    struct engine_answer *out);

#endif
