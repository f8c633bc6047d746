/* Why a request gets no GPU now: who has the GPUs, and who waits before it. */
#ifndef GPUHELPER_ROOT_GRANT_WAITREFUSAL_H
#define GPUHELPER_ROOT_GRANT_WAITREFUSAL_H

#include "allotstate.h"

/*
 * Refuses a request of this user with WHY_AGAIN. Names the holders and the earlier waiters that s->who may know: those
 * of the same user and, if a token proves the request's team, of that team. Returns -1.
 */
int wait_refuse(const struct allot_state *s, const struct queued *w, uint32_t uid, struct why *why);

/* Says which GPU is open without a lease, and in which process. */
#define UNLEASED_TEXT 160
void wait_tell_unleased(const struct unleased_use *s, char out[UNLEASED_TEXT]);

/*
 * True if a request of this user and identity may be told that a container of the user «of», with this pipeline, holds
 * a GPU or waits for one.
 */
bool wait_may_name(const char *pipeline, uint32_t of, uint32_t uid, const struct identity *who);

#endif
