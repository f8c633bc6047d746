/* The audit log: one JSON line a decision. */
#ifndef GPUHELPER_ROOT_AUDIT_H
#define GPUHELPER_ROOT_AUDIT_H

#include "../host/record.h"
#include "../pure/leasefile.h"
#include "peer.h"
#include "rate.h"

/* Members of a struct record: who asked. */
#define ASKED_BY(p) .uid = (p)->asker.uid, .user = (p)->user, .pid = (p)->pid

/* Opens the log, or refuses: without it nothing is granted.  Returns a descriptor, to be read and appended to. */
int audit_open(struct why *why);

/*
 * Appends one record with a single write, linked to the one before it, but for a record of who could not leave his
 * caller's cgroup.  -1 with *why if it did not go in whole, or (WHY_AGAIN) another helper is at it for too long.
 */
int audit_write(int fd, const struct record *r, struct why *why);

/*
 * The same within what the peer may have written (rate.h).  1 with *why if the peer has used that up, which the log
 * says once a day: the record is then left out.
 */
int audit_count_and_write(int fd, const struct record *r, enum rate_kind kind, struct why *why);

/*
 * The same in two steps, for what is written under the lock on the leases: the count may have to wait for other helpers
 * of this user's, and nobody else is to wait with it.  audit_line_end() in either case: of a line that was not written
 * it tells how many records had been left out, as the line would have.
 */
struct audit_line {
	struct buf text;
	uint32_t uid, suppressed;	/* of that uid, before this one; 0: none, or told of */
	bool left_out;			/* the user has used up what may be written for him */
};
int audit_count(int fd, const struct record *r, enum rate_kind kind, struct audit_line *out, struct why *why);
int audit_append(int fd, struct audit_line *line, struct why *why);
void audit_line_end(int fd, struct audit_line *line);

/* What was left out of the log before today, of whom nothing has been written since. */
void audit_left_out(int fd);

/*
 * A record about a lease: it names whose it was, not who looked.  False: another helper was at the log for too long,
 * and the record can still be written later.  What else can't be written is passed over.
 */
bool audit_lease(int fd, const char *event, const struct lease *l);

#endif
