/*
 * Limits how much one user may have written into the audit log, because all users share the log and its disk, and how
 * often a user may query leases. Root is not counted.
 */
#ifndef GPUHELPER_ROOT_LOG_LOGRATE_H
#define GPUHELPER_ROOT_LOG_LOGRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../base/why.h"

/* Each kind has a limit of its own: to use up one of them (by refused tasks, say) takes nothing from the others. */
enum rate_kind {
	RATE_REFUSAL,
	RATE_PLAIN,
	RATE_GRANT,
	RATE_EXEC,
	RATE_KINDS
};

/*
 * The most bytes of the two records that can follow a grant's record of so many bytes: undo, «draining»
 * (LEASE_RELEASING) or end. They are written whatever the count is then, so they are counted with the grant. They have
 * no more texts than the grant's record, except a reason.
 */
#define RATE_ENDS_OF(grant) (2 * (size_t)(grant) + 2048)

/* The content of a user's file. */
struct rate_count {
	int64_t day, minute;		/* since 1970, in UTC */
	uint64_t bytes[RATE_KINDS];	/* on that day */
	uint32_t written[RATE_KINDS];	/* records in that minute */
	uint32_t left_out;		/* records that were left out, and that no record has mentioned yet */
	uint32_t told;			/* kinds (as bits) whose used-up quota the log has mentioned on that day */
	uint32_t queries;			/* in that minute */
};

/* One user's count, held for one record. rate_close() after the record is written. */
struct rate {
	int fd;				/* the file, locked; -1: root, who is not counted */
	uint32_t uid;
	uint32_t untold;		/* records that were left out, for this record to mention */
	bool used_up;			/* this record is the first one that the day's quota keeps out */
	bool refused;			/* this record would be too many */
	struct rate_count count;
};

/*
 * Locks and reads a user's count. now: seconds since 1970. -1 with *why: WHY_AGAIN if another helper of the user holds
 * the lock for too long, another code if the file can't be opened, locked or read.
 */
int rate_open(uint32_t uid, int64_t now, struct rate *r, struct why *why);

/*
 * Counts a record of so many bytes before it is written. -1 with *why: it must not be written, because there were too
 * many (WHY_AGAIN), or the count can't be written.
 */
int rate_charge(struct rate *r, enum rate_kind kind, size_t bytes, struct why *why);
/* Unlocks the count. */
void rate_close(struct rate *r);

/*
 * Counts a query (VERB_REAP, VERB_STATUS, VERB_REAPPLY): the log does not mention it, and others wait while it lasts.
 * -1 with *why: there were too many in this minute (WHY_AGAIN), or it can't be counted. With «uncounted», the latter
 * is no error: a query that ends leases is better made once too often.
 */
int rate_query(uint32_t uid, int64_t now, bool uncounted, struct why *why);

/*
 * Calls tell() for each user of whom records were left out before today that no record has mentioned. They
 * then count as mentioned.
 */
void rate_tell_left_out(int64_t now, void (*tell)(void *ctx, uint32_t uid, uint32_t left_out), void *ctx);

#endif
