/*
 * The question of the helper to gpuhelper-engine what a request may have (root/child/engine.h), and the answer, as
 * lines (lines.h). A value that was read must be freed in any case.
 */
#ifndef GPUHELPER_ASK_AUTHZQUERY_H
#define GPUHELPER_ASK_AUTHZQUERY_H

#include "attribution.h"
#include "foundkeys.h"
#include "grantedfolder.h"

struct authz_query {
	struct client who;
	/* as the request has them: gpuhelper-engine passes them on to gpuhelper-judge, and interprets none */
	struct untrusted untrusted;
	bool privileged, is_run;	/* as in struct request_spec */
	char *packed_attribution;	/* of a task: attribution_pack(), from its container's lease; else NULL */
	int64_t now;			/* the time, seconds since 1970 */
	struct found_keys *keys;	/* with a token: of each issuer in gpuhelper.conf, in that order */
	size_t issuers;
};

/* What became of an answer of gpuhelper-read. */
enum answer_state {
	ANSWER_UNREAD,		/* it was not needed, or what was needed before it failed */
	ANSWER_FIT,
	ANSWER_UNFIT,		/* it is right for now, but memory was short: it must not be cached */
	ANSWER_MALFORMED,
};

struct authz_answer {
	bool other_version;		/* the writer has another version, so the rest is not read */
	enum answer_state policies, specs;
	struct why why;			/* WHY_NONE: the policy grants */
	bool heard;			/* all of it was read: «why» is an answer */
	bool searched;			/* GPUs were looked for: those of the host must be hidden, even if none is granted */
	bool identified;		/* all of «whose» is known */
	bool judged;			/* gpuhelper-judge was asked for its decision */
	bool has_token;			/* a valid one, of this issuer in gpuhelper.conf */
	uint32_t issuer;
	struct attribution whose;	/* as far as it is known; without the members that the helper sets */
	struct policy policy;		/* that grants: its name and terms */
	struct policy_set writers;	/* with is_run: the policies that give folders for writing, and broken ones */
	const struct inventory *host;	/* set before it is read: the judge's report, whose GPUs the grant names by index */
	struct granted_folder *folder;	/* the folders of the grant */
	size_t folders;
	struct grant grant;		/* the rest of it; refers to policy and report */
};

/* gpuhelper-read's answer, 256 MiB at most; the keys of the most issuers, each byte as %XX, are 24 MiB */
#define AUTHZ_QUERY_MAX (300U << 20)
#define AUTHZ_ANSWER_MAX (16U << 20)	/* mostly folders */
#define AUTHZ_ENV_MAX 4096		/* variables of a policy: the helper compares each with those of the driver */

/*
 * Packs the question, and the answer of gpuhelper-read about the policies («len» bytes, as they are). The caller frees
 * the *size bytes; NULL if memory is short.
 */
char *authz_query_pack(struct authz_query *a, const char *read, size_t len, size_t *size);
/* Used by both: the question alone. */
void authz_query_lines(struct lines *t, struct authz_query *a);

/*
 * True if the request asks for nothing: if the policies give it nothing, it is plain. packed_attribution: as in
 * authz_query.
 */
bool authz_asks_nothing(const struct untrusted *w, const char *packed_attribution);

void authz_answer_lines(struct lines *t, struct authz_answer *a);
/*
 * Checks that the answer can be one for this request: an administrator may write such a policy (parsedcheck.h), its
 * rules give these folders, and GPUs that are in the inventory; and adds the folders to the grant. 0, or -1 with *why.
 */
int authz_answer_accept(struct authz_answer *a, const struct authz_query *asked, const struct settings *s,
    struct why *why);
void authz_answer_free(struct authz_answer *a);
#define autoauthzanswer __attribute__((cleanup(authz_answer_free)))

#endif
