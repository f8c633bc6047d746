/* The helper's reply: a decision and, for a grant, the changes to config.json. Root makes it, the wrapper reads it. */
#ifndef GPUHELPER_ASK_REPLY_H
#define GPUHELPER_ASK_REPLY_H

#include "../base/hash.h"
#include "../lease/callerop.h"
#include "../lease/edits.h"

enum reply_kind {
	REPLY_GRANT,	/* merge the edits, answer with WIRE_DONE or WIRE_STAY, go on */
	REPLY_PLAIN,	/* nothing was asked for, nothing is granted: create the container without a grant */
	REPLY_DONE,	/* of every verb but VERB_GRANT */
	REPLY_REFUSED,	/* create no container */
	/* ask again, for up to «wait» seconds: GPUs or the lock are held, or keys are awaited. To VERB_CREATED: created.c */
	REPLY_BUSY,
	REPLY_KINDS
};
extern const char *const reply_kinds[REPLY_KINDS];	/* as the reply has them */

#define REPLY_TEXT_MAX 512

struct reply {
	enum reply_kind kind;
	struct why why;			/* REPLY_REFUSED, REPLY_BUSY */
	unsigned wait, ahead;		/* REPLY_BUSY: seconds in all; number of requests ahead */
	char policy[256];		/* REPLY_GRANT: file name of the policy */
	struct edits edits;		/* REPLY_GRANT */
	char nonce[HASH_SIZE];		/* hex; "": none. Nobody can guess a secret in the reply by the hash in its record */
	char *encoded;			/* as it is sent, if it was made ahead, for its record (reply_text()); else NULL */
	char *status;			/* REPLY_DONE, to VERB_STATUS: JSON, of «leases» and «waiters»; else NULL */
	char text[REPLY_TEXT_MAX];	/* REPLY_DONE to VERB_EXEC, VERB_TASK: a line for the user; "": none */
	struct strlist env;		/* REPLY_DONE to VERB_TASK: variables of the task, "NAME=value" */
	unsigned retry_ms;			/* REPLY_DONE to VERB_OVER: milliseconds until the next VERB_OVER; 0: none is needed */
	struct caller_ops ops;		/* REPLY_DONE, REPLY_BUSY: to do before asking again, or before the task goes on */
};

/* The reply as JSON, which the caller frees. NULL if memory is short or a text is not UTF-8. */
char *reply_encode(const struct reply *r);
/* The same; NULL with *why, also (WHY_CONFIG) if it is longer than the wrapper reads. */
char *reply_text(const struct reply *r, struct why *why);
void reply_free(struct reply *r);
#define autoreply __attribute__((cleanup(reply_free)))

#endif
