/* One question to the policies, and what they said. */
#ifndef GPUHELPER_CTL_INQUIRY_H
#define GPUHELPER_CTL_INQUIRY_H

#include "../host/cdidirs.h"
#include "../pure/identity.h"
#include "../judge/decide.h"
#include "../judge/identify.h"
#include "../user/bundle.h"
#include "../user/privilege.h"
#include "../user/spec.h"
#include "configload.h"

/* What a policy file said. */
struct said {
	enum verdict_kind verdict;
	char *why;
};

enum outcome {
	OUTCOME_GRANTED,
	OUTCOME_REFUSED,
	OUTCOME_PLAIN,		/* nothing was asked for, and nothing is given */
};

struct inquiry {
	const struct options *options;
	const struct config *config;
	const struct inventory *seen;	/* these are the GPUs; NULL: those of this host are */
	struct bundle bundle;		/* with --bundle, else empty */
	struct spec spec;
	struct request request;
	char privilege[PRIVILEGE_MAX];	/* what makes the container privileged, or "" */
	bool asks;			/* for a token, GPUs or folders */
	struct asker asker;
	char *user;			/* asker borrows from it */
	struct identity identity;
	struct known known;		/* identity borrows from it */
	struct token_check_log token;	/* of a token that is there, check by check */
	int64_t now;			/* when it is judged */
	struct ask ask;
	struct inventory host;		/* where GPUs are asked for */
	struct cdi_registry specs;	/* likewise */
	struct decision decision;
	struct said *said;		/* of the first «heard» files */
	size_t heard;
	enum outcome outcome;
	struct why why;			/* unless granted */
	struct strlist notes;
};

/* Frees all but what is borrowed: options, config, seen. */
void inquiry_free(struct inquiry *q);

/* Whose worker it is: options' user by name or number, else who runs this.  -1 with q->why: there is no such user. */
int inquiry_asker(struct inquiry *q);

/* How the pipeline is known, by options' word for it; a token where that is NULL.  -1: there is no such word. */
int inquiry_kind(const struct options *o, enum identity_kind *kind);

/* The request that a container of this pipeline would make, from the options.  -1 with q->why. */
int inquiry_request(struct inquiry *q, enum identity_kind kind);

/* What the helper would know of the pipeline; «proven»: taken as if a token had said it.  -1 with q->why. */
int inquiry_identify(struct inquiry *q, bool proven);

/*
 * The way of root/grant.c, without what it does: sets q->outcome, which is to be OUTCOME_REFUSED before.  0: granted.
 * -1: q->why is the answer.
 */
int inquiry_judge(struct inquiry *q, bool proven);

/* Both in explain_token.c.  Reads options' token_file; -1 with q->why. */
int token_load(struct inquiry *q);
/* q->why came before the first check of the token: makes it one. */
void token_failed_early(struct inquiry *q);

/* Adds to q->notes. */
void note(struct inquiry *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
