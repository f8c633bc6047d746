/*
 * What the helper asks gpuhelper-judge (root/judge.h), and what that answers, as lines (lines.h) that begin with the
 * version of who wrote them.  Each function writes a value, or reads it back; the value is then to be freed, whatever
 * became of it.
 */
#ifndef GPUHELPER_PURE_JUDGEASK_H
#define GPUHELPER_PURE_JUDGEASK_H

#include "grantask.h"
#include "verdict.h"

enum judge_verb {
	JUDGE_HOST,	/* what GPUs does this host have?  Asked first; after it, nothing is opened any more */
	JUDGE_TOKEN,	/* whose is it? */
	JUDGE_VARS,	/* which instance variables does this JSON name? */
	JUDGE_GRANT,	/* what does who asks get? */
};

/* The keys of one issuer, as they were found. */
struct found_keys {
	char *text;		/* of the JWKS, without a NUL; NULL: they can't be had, and why says it */
	int64_t fetched;	/* when they came from the issuer, seconds since 1970 */
	struct why why;
};

struct judge_ask {
	enum judge_verb verb;
	uint32_t vendors;		/* of JUDGE_HOST: a mask (1 << enum gpu_vendor), which may be 0 */
	struct grant_ask grant;		/* of JUDGE_GRANT */
	char *text;			/* of the others: a token, or the JSON */
	int64_t now;			/* the time, seconds since 1970 */
	struct issuer_setting *issuer;	/* url, audience, keys, max_age and keys_max_age of each */
	struct found_keys *keys;	/* as many */
	size_t issuers;
};

struct judge_answer {
	bool other_version;		/* it is not to be read: its writer is of another version */
	struct why why;			/* WHY_NONE: this follows */
	struct inventory inventory;	/* of the host (inventorylines.h) */
	uint32_t issuer;		/* of a token: which of those that were sent along */
	struct token_claims claims;	/* of a token */
	struct instance_vars vars;	/* of the JSON */
	struct verdict verdict;		/* of a grant (verdict.h) */
};

/* the keys of as many issuers as may be, each byte as %XX, are 24 MiB; policies what gpuhelper-read may say of them */
#define JUDGE_ASK_MAX (256U << 20)
#define JUDGE_ANSWER_MAX (16U << 20)	/* folders are the most */

void found_keys_free(struct found_keys *k, size_t n);

void judge_ask_lines(struct lines *t, struct judge_ask *a);
void judge_ask_free(struct judge_ask *a);	/* of one that was read */

void judge_answer_lines(struct lines *t, enum judge_verb verb, struct judge_answer *a);
void judge_answer_free(struct judge_answer *a);
#define autojudgeanswer __attribute__((cleanup(judge_answer_free)))

/*
 * Is it an answer to that question, of a token or of JSON?  It can't be seen to be the right one: that is the judge's
 * alone to know.  -1 with *why: no such issuer, no name, a date that no token of that issuer can have now.  Of a host
 * see hostcheck.h, of a grant verdict.h.
 */
int judge_answer_check(const struct judge_ask *asked, const struct judge_answer *a, struct why *why);

#endif
