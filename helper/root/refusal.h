/* A request that gets nothing, or nothing yet: the reason, and the record of it in the audit log. */
#ifndef GPUHELPER_ROOT_REFUSAL_H
#define GPUHELPER_ROOT_REFUSAL_H

#include "../pure/edits.h"
#include "ruling.h"

struct refusal {
	struct why why;
	bool waits;		/* the wrapper is to ask again, once it has done the chores */
	bool soon;		/* the GPUs could not be looked at: the wrapper asks again soon, however long the policy lets it wait */
	bool met_stray;		/* a GPU that was picked is open in a container that has no lease of it */
	size_t ahead;		/* how many wait before this request */
	struct chores chores;
};

/* The reply to a request that waits, for up to «wait» seconds.  The chores become the reply's. */
void refusal_answer_busy(struct refusal *f, unsigned wait, struct reply *reply);

/*
 * Writes the record of a container that gets nothing: "refuse", with the reason that the user is told, or "plain"
 * (told is NULL).  -1 with *why: it is not in the log; WHY_AGAIN: the user's records for this time are used up.
 */
int refusal_record(const struct ruling *r, const char *event, const struct why *told, struct why *why);

void refusal_free(struct refusal *f);
#define autorefusal __attribute__((cleanup(refusal_free)))

#endif
