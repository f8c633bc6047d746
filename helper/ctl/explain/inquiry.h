/* One question to the policies, and their answers. */
#ifndef GPUHELPER_CTL_EXPLAIN_INQUIRY_H
#define GPUHELPER_CTL_EXPLAIN_INQUIRY_H

#include "../../ask/identity.h"
#include "../../host/driver/cdidirs.h"
#include "../../judge/decide.h"
#include "../../judge/identify.h"
#include "../../policy/policydecide.h"
#include "../../user/privilege/privilege.h"
#include "../../user/spec/bundle.h"
#include "../../user/spec/spec.h"
#include "../configload.h"

/* The answer of a policy file. */
struct said {
	enum verdict_kind verdict;
	char *why;
};

enum outcome {
	OUTCOME_GRANTED,
	OUTCOME_REFUSED,
	OUTCOME_PLAIN,		/* the container requests nothing, and gets nothing */
};

struct inquiry {
	const struct options *options;
	const struct config *config;
	const struct inventory *seen;	/* the GPUs to use; NULL: those of this host */
	struct bundle bundle;		/* empty without --bundle */
	char *before;			/* its config.json without what an earlier grant added; NULL: nothing was */
	struct spec spec;
	struct request request;
	char privilege[PRIVILEGE_MAX];	/* what makes the container privileged, or "" */
	bool asks;			/* the container has a token, or requests GPUs or folders */
	struct client client;
	char *user;			/* owns the string in client */
	struct identity identity;
	struct principal principal;		/* owns the strings in identity */
	struct token_check_log token;	/* the checks of the token; empty without one */
	int64_t now;			/* the time that the token is checked for */
	struct requested requested;
	struct inventory host;		/* only if GPUs are requested */
	struct cdi_registry specs;	/* likewise */
	struct decision decision;
	struct said *said;		/* the answers of the first «heard» files */
	size_t heard;
	struct strlist libraries;	/* if granted: SONAMEs that the container will find */
	enum outcome outcome;
	struct why why;			/* unless granted */
	char assumed[320];		/* what the answer takes on trust and a container would have to prove; "": nothing */
	bool tokens_fail;		/* it assumes a token, and this host refuses each one */
	struct strlist notes;
};

/* Frees everything but options, config and seen, which are borrowed. */
void inquiry_free(struct inquiry *q);

/* Sets q->client to --user (a name or uid), or to the user who runs this.  -1 with q->why: there is no such user. */
int inquiry_client(struct inquiry *q);

/* Parses --identity; the default is a token.  -1 if it is an unknown word. */
int inquiry_kind(const struct options *o, enum identity_kind *kind);

/* Makes the container's request from the options.  -1 with q->why. */
int inquiry_request(struct inquiry *q, enum identity_kind kind);

/* Sets q->identity as the helper would.  «proven»: treat the claims as if a token proved them.  -1 with q->why. */
int inquiry_identify(struct inquiry *q, bool proven);

/*
 * Decides as root/grant/grant.c does, without carrying the decision out.  The caller sets q->outcome to OUTCOME_REFUSED
 * before. 0: q->outcome is OUTCOME_GRANTED.  -1: it is another one, and q->why says why.
 */
int inquiry_decide(struct inquiry *q, bool proven);

/* Adds a line to q->notes. */
void note(struct inquiry *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
