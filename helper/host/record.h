/* A record of the audit log: what it says, and the line of JSON that says it. */
#ifndef GPUHELPER_HOST_RECORD_H
#define GPUHELPER_HOST_RECORD_H

#include <sys/types.h>

#include "../pure/edits.h"
#include "../pure/request.h"
#include "../pure/identity.h"

/* What one record says; members that are NULL or empty are left out. */
struct record {
	const char *event;		/* gpuhelper(8), Audit log, has them all */
	uint32_t uid;			/* who asked, or whose the lease is */
	const char *user;
	pid_t pid;			/* 0: of nobody */
	const struct request *request;
	const struct known *known;	/* its token, where it holds or not, by its hash only */
	const char *policy;
	const struct strlist *specs;	/* CDI specs that the driver's files are by; may be NULL */
	const struct strlist *gpus;	/* as "nvidia 0000:3b:00.0 GPU-…" */
	const struct edits *edits;	/* its mounts are the folders, but for the driver's files */
	const struct why *why;
	bool again;			/* what it had been granted before, it has again */
	bool draining;			/* what was taken back is in use, and holds on */
	uint32_t suppressed, waited;	/* records of this user that were left out before (rate.h); seconds in the queue */
};

/*
 * Adds the line of a record that is written now.  All text of a request is cut and escaped to ASCII, so that a line is
 * a line wherever it is shown; no token ever gets here.  -1 with *why: no memory.
 */
int record_line(const struct record *r, struct buf *line, struct why *why);

#endif
