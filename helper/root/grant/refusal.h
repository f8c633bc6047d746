/* A request that gets nothing, or nothing yet: its reason, and its record in the audit log. */
#ifndef GPUHELPER_ROOT_GRANT_REFUSAL_H
#define GPUHELPER_ROOT_GRANT_REFUSAL_H

#include "../../ask/reply.h"
#include "authz.h"

/*
 * Whether the wrapper is to do the operations and ask again: not at all; within the policy's wait (soon, if that is 0);
 * or soon in any case.
 */
enum retry { RETRY_NOT, RETRY_IN_WAIT, RETRY_SOON };

struct refusal {
	struct why why;
	enum retry retry;
	bool met_opener;		/* a picked GPU is open in a container that has no lease of it */
	size_t ahead;		/* number of earlier requests */
	struct caller_ops ops;
};

/* RETRY_SOON if something could not be looked at in time: whether the request is refused is not decided then. */
enum retry refusal_retry(const struct why *why);

/*
 * Fills in the reply, and records the refusal, or says that the request waits, for at most the decision's wait. Moves
 * the operations into the reply.
 */
void refusal_answer(const struct authz *authz, struct refusal *f, struct reply *reply);

/*
 * Writes the record of a container that gets nothing: "refuse", with the reason that the user is told, or "plain": told
 * is NULL, or says what was taken away (code WHY_NONE). 1 with *why: the user has used up what may be recorded, and the
 * record is left out. -1 with *why: it is not in the log.
 */
int refusal_record(const struct authz *authz, const char *event, const struct why *told, struct why *why);

void refusal_free(struct refusal *f);
#define autorefusal __attribute__((cleanup(refusal_free)))

#endif
