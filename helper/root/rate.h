/*
 * How much one user may have written into the audit log: the log, and the disk
 * under it, are everyone's.  And how often he may look.  Root is not counted.
 */
#ifndef GPUHELPER_ROOT_RATE_H
#define GPUHELPER_ROOT_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../pure/why.h"

/* Each has a limit of its own: who makes one used up (a task that is refused, say) takes nothing from the others. */
enum rate_kind {
	RATE_REFUSAL,
	RATE_PLAIN,
	RATE_GRANT,
	RATE_EXEC,
	RATE_KINDS
};

/*
 * The most bytes of the two records that can follow a grant's of so many bytes: undo, draining or end. They are written
 * whatever the count is then, so they are counted with the grant. They have no more texts than it has, but for a reason.
 */
#define RATE_ENDS_OF(grant) (2 * (size_t)(grant) + 2048)

/* The file's content. */
struct rate_count {
	int64_t day, minute;		/* since 1970, in UTC */
	uint64_t bytes[RATE_KINDS];	/* on that day */
	uint32_t written[RATE_KINDS];	/* records in that minute */
	uint32_t left_out;		/* records that were, and that none has told of */
	uint32_t told;			/* kinds (as bits) of which the day's quota is known to be used up */
	uint32_t looks;			/* in that minute */
};

/* One user's count in hand, for one record.  rate_close() when it is written. */
struct rate {
	int fd;				/* the file, locked; -1: root's, who is not counted */
	uint32_t uid;
	uint32_t untold;		/* records that were left out: this one is to tell of them */
	bool used_up;			/* by this record: the day's quota is */
	bool refused;			/* this record would be too many */
	struct rate_count count;
};

/*
 * Takes the count of a user.  -1 with *why: WHY_AGAIN where another helper of his
 * has it for too long, something else where it can't be had.
 */
int rate_open(uint32_t uid, int64_t now, struct rate *r, struct why *why);

/*
 * Counts a record of so many bytes, before it is written.  -1 with *why: it must not be, for there were too
 * many (WHY_AGAIN), or the count can't be written.
 */
int rate_take(struct rate *r, enum rate_kind kind, size_t bytes, struct why *why);
void rate_close(struct rate *r);

/*
 * Counts a look at what there is (VERB_LOOK, VERB_STATUS, VERB_REAPPLY), which is
 * written down nowhere, and takes time that others wait for.  -1 with *why: there
 * were too many in this minute (WHY_AGAIN), or it can't be counted.  With «uncounted»
 * the latter is no matter: a look that ends leases had better be once too often.
 */
int rate_look(uint32_t uid, int64_t now, bool uncounted, struct why *why);

/* Calls tell() for each user of whom records were left out before today, and none has told of; it has, then. */
void rate_tell_left_out(int64_t now, void (*tell)(void *ctx, uint32_t uid, uint32_t left_out), void *ctx);

#endif
