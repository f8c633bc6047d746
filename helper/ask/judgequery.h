/*
 * The questions of gpuhelper-engine to gpuhelper-judge (engine/tojudge.h), and the answers, as lines (lines.h) that
 * begin with the writer's version. Each function writes or reads a value; a value that was read must be freed
 * in any case.
 */
#ifndef GPUHELPER_ASK_JUDGEQUERY_H
#define GPUHELPER_ASK_JUDGEQUERY_H

#include "foundkeys.h"
#include "grantquery.h"
#include "judgepass.h"
#include "decisionindexes.h"

enum judge_verb {
	JUDGE_HOST,	/* the host's GPUs. Asked first; afterwards the judge can open nothing */
	JUDGE_TOKEN,	/* whose token is it? */
	JUDGE_VARS,	/* which instance variables does this JSON have? */
	JUDGE_GRANT,	/* what does this request get? */
};

struct judge_query {
	enum judge_verb verb;
	uint32_t vendors;		/* JUDGE_HOST: a mask (1 << enum gpu_vendor), may be 0 */
	struct grant_query grant;		/* JUDGE_GRANT */
	char *text;			/* others: a token, or JSON */
	int64_t now;			/* the time, seconds since 1970 */
	struct issuer_setting *issuer;	/* all of each */
	struct found_keys *keys;	/* as many */
	size_t issuers;
};

struct judge_answer {
	bool other_version;		/* the writer has another version, so the rest is not read */
	struct why why;			/* WHY_NONE: the answer follows */
	struct inventory inventory;	/* JUDGE_HOST (inventorylines.h) */
	uint32_t issuer;		/* JUDGE_TOKEN: index into the issuers asked about */
	struct token_claims claims;	/* JUDGE_TOKEN */
	struct instance_vars vars;	/* JUDGE_VARS */
	struct decision_indexes indexes;		/* JUDGE_GRANT (decisionindexes.h) */
};

void judge_query_lines(struct lines *t, struct judge_query *a);
void judge_query_free(struct judge_query *a);	/* one that was read */

void judge_answer_lines(struct lines *t, enum judge_verb verb, struct judge_answer *a);
void judge_answer_free(struct judge_answer *a);
#define autojudgeanswer __attribute__((cleanup(judge_answer_free)))

/*
 * Checks that the answer can be one to that question, about a token or JSON. Only the judge knows whether it is right.
 * 0, or -1 with *why: an unknown issuer, no name, or a date that no token of the issuer can have now. For a host see
 * hostcheck.h, for a grant decisionindexes.h.
 */
int judge_answer_check(const struct judge_query *asked, const struct judge_answer *a, struct why *why);

#endif
