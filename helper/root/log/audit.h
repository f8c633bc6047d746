/* The audit log: one line of JSON for each decision. */
#ifndef GPUHELPER_ROOT_LOG_AUDIT_H
#define GPUHELPER_ROOT_LOG_AUDIT_H

#include "../../host/own/record.h"
#include "../../lease/leasefile.h"
#include "../enter/peer.h"
#include "lograte.h"

/* The members of a struct record that name the peer. */
#define CLIENT_OF(p) .uid = (p)->client.uid, .user = (p)->user, .pid = (p)->pid

/* Opens the log for reading and appending. Returns the descriptor, or -1 with *why: then nothing may be granted. */
int audit_open(struct why *why);

/*
 * Appends a record with a single write, and links it to the one before, unless this helper could not leave its caller's
 * cgroup. -1 with *why: the record was not written whole, or (WHY_AGAIN) another helper has the log for too long.
 */
int audit_write(int fd, const struct record *r, struct why *why);

/*
 * The same, within the peer's share of the log (lograte.h). 1 with *why: the share is used up, so the record is left
 * out. The log says so once a day.
 */
int audit_write_counted(int fd, const struct record *r, enum rate_kind kind, struct why *why);

/*
 * The same in two steps, for records that are written under the lock on the leases. The first may wait for other
 * helpers of the same user, so it must be called without that lock, which other users wait for. audit_line_end() in
 * either case. The line says how many records were left out before; if it was not written, audit_line_end() records
 * that number.
 */
struct audit_line {
	struct buf text;
	uint32_t uid, suppressed;	/* the records of uid left out before this one, unless the log says so already */
	bool left_out;			/* the user has used up his share */
};
int audit_prepare(int fd, const struct record *r, enum rate_kind kind, struct audit_line *out, struct why *why);
int audit_append(int fd, struct audit_line *line, struct why *why);
void audit_line_end(int fd, struct audit_line *line);

/* Records how many records were left out before today, for each user who has had no record since. */
void audit_left_out(int fd);

/*
 * Writes a record about a lease, which names the lease's user, not the peer. False: another helper has the log for too
 * long, so the caller should try later. Other failures are ignored.
 */
bool audit_lease(int fd, const char *event, const struct lease *l);

#endif
