/* Asks gpuhelper-engine to pick GPUs, by what was read under the lock on the leases. */
#ifndef GPUHELPER_ROOT_GRANT_ASKPICKS_H
#define GPUHELPER_ROOT_GRANT_ASKPICKS_H

#include "plan.h"

/* As engine_ask_picks() (child/engine.h). */
int ask_picks(const struct plan *p, const struct leases *ls, const struct queue *q, const struct queued *me,
    const struct gpu_openers *openers, struct engine_answer *out, struct why *why);

#endif
