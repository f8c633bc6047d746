/* One record of the audit log, and its line of JSON. */
#ifndef GPUHELPER_HOST_OWN_RECORD_H
#define GPUHELPER_HOST_OWN_RECORD_H

#include <sys/types.h>

#include "../../ask/attribution.h"
#include "../../ask/request.h"
#include "../../lease/change.h"
#include "../../lease/edits.h"

/* The contents of a record. Members that are NULL or empty are left out. */
struct record {
	const char *event;		/* gpuhelper(8), «Events», lists them all */
	uint32_t uid;			/* of the user who asked, or whose lease it is */
	const char *user;
	pid_t pid;			/* 0: no process */
	const struct request *request;
	const struct attribution *whose;	/* its token, whether valid or not, by its hash only */
	const char *of_lease;		/* «TEAM/PIPELINE» of its lease, where «whose» is not at hand */
	const char *policy;
	const struct strlist *gpus;	/* as "nvidia 0000:3b:00.0 GPU-…" */
	const struct edits *edits;	/* its mounts are the folders */
	const struct changes *changes;	/* what is done to nodes of the host; may be NULL */
	const char *reply;		/* hex SHA-256 of the reply that the wrapper gets */
	const struct why *why;
	bool releasing;			/* what was taken back is still in use, so the lease stays */
	uint32_t suppressed, waited;	/* records of this user that were left out before (lograte.h); seconds in the queue */
};

/*
 * Appends the line of a record that is written now. Text of a request is cut and escaped to ASCII, so that a
 * record is one line in any viewer. Must never get a token. Returns 0, or -1 with *why if memory is short.
 */
int record_line(const struct record *r, struct buf *line, struct why *why);

#endif
