/* One question to the policies, and what they said. */
#ifndef GPUHELPER_CTL_EXPLAIN_H
#define GPUHELPER_CTL_EXPLAIN_H

#include "../host/decide.h"
#include "../user/bundle.h"
#include "../user/spec.h"
#include "ctl.h"

/* What a policy file said. */
struct said {
	enum verdict verdict;
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
	struct policy_files files;
	struct bundle bundle;		/* with --bundle, else empty */
	struct spec spec;
	struct request request;
	bool asks;			/* for a token, GPUs or folders */
	struct asker asker;
	char *user;			/* asker borrows from it */
	struct identity identity;
	json_t *vars;			/* identity borrows from it */
	struct ask ask;
	struct decision decision;
	struct said *said;		/* of the first «heard» files */
	size_t heard;
	enum outcome outcome;
	struct why why;			/* unless granted */
	struct strlist notes;
};

/* Prints the answer, as text or JSON. */
void answer(const struct inquiry *q);

#endif
