/* Why a request gets no GPU now: who has the GPUs, and who waits before it. */
#ifndef GPUHELPER_ENGINE_GPUHOLDERS_H
#define GPUHELPER_ENGINE_GPUHOLDERS_H

#include "../policy/policydecide.h"
#include "allocation.h"

/*
 * Refuses the request with WHY_AGAIN. Names the holders and the earlier requests that s->who may know: those of the
 * same user and, if a token proves the request's team, of that team. Returns -1.
 */
int wait_refuse(const struct allocation *s, struct why *why);

/*
 * True if a request of this user and identity may be told that a container of the user «of», with this pipeline, holds
 * a GPU or waits for one.
 */
bool wait_may_name(const char *pipeline, uint32_t of, uint32_t uid, const struct identity *who);

#endif
