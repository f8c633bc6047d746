/* A request that gets nothing, or nothing yet: its reason, and its record in the audit log. */
#ifndef GPUHELPER_ROOT_REFUSAL_H
#define GPUHELPER_ROOT_REFUSAL_H

#include "../pure/edits.h"
#include "ruling.h"

struct refusal {
	struct why why;
	bool waits;		/* the wrapper must do the chores and ask again */
	bool soon;		/* processes could not be looked at: ask again soon, whatever wait the policy allows */
	bool met_stray;		/* a picked GPU is open in a container that has no lease of it */
	size_t ahead;		/* number of earlier waiters */
	struct chores chores;
};

/* Fills in the reply to a request that waits, for at most «wait» seconds. Moves the chores into the reply. */
void refusal_answer_busy(struct refusal *f, unsigned wait, struct reply *reply);

/*
 * Writes the record of a container that gets nothing: "refuse", with the reason that the user is told, or "plain": told
 * is NULL, or says what was taken away (code WHY_NONE). 1 with *why: the user has used up what may be recorded, and the
 * record is left out. -1 with *why: it is not in the log.
 */
int refusal_record(const struct ruling *r, const char *event, const struct why *told, struct why *why);

void refusal_free(struct refusal *f);
#define autorefusal __attribute__((cleanup(refusal_free)))

#endif
