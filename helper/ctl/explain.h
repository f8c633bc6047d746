/* One question to the policies, and what they said. */
#ifndef GPUHELPER_CTL_EXPLAIN_H
#define GPUHELPER_CTL_EXPLAIN_H

#include "../host/cdidirs.h"
#include "../pure/identity.h"
#include "../judge/decide.h"
#include "../judge/identify.h"
#include "../user/bundle.h"
#include "../user/privilege.h"
#include "../user/spec.h"
#include "ctl.h"

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
	char *config_dir;
	bool strict;
	struct settings settings;
	struct policy_set policies;
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

/* Prints the answer, as text or JSON. */
void answer(const struct inquiry *q);
/* The part of it that tells a token's checks. */
void say_token(const struct token_check_log *log);
json_t *token_json(const struct token_check_log *log);
/* Adds whose container it is, as far as that is known; not the kind of identity that says so. */
void put_identity(json_t *object, const struct identity *id);

/* Adds to q->notes. */
void note(struct inquiry *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * What this host would refuse of an outcome that is granted or plain: makes it a
 * refusal with q->why.  In explain_host.c.
 */
void look_at_host(struct inquiry *q);

/* --token-file, and --at: in explain_token.c. */
int token_usage(const struct options *o);	/* 0, or the exit status after a complaint */
bool token_alone(const struct options *o);	/* the policies are not asked */
int token_load(struct inquiry *q);		/* reads both; -1 with q->why */
void token_failed_early(struct inquiry *q);	/* q->why came before the first check: makes it one */
void token_notes(struct inquiry *q);
int token_answer(struct inquiry *q);		/* answer(), of the token alone; returns the exit status */

#endif
