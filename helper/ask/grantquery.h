/*
 * The question of a grant, from gpuhelper-engine to gpuhelper-judge: who asks, what the request asks for, and the
 * settings, policies and GPUs to decide by. Nobody but the judge may parse the texts, which the task's author
 * chose.
 */
#ifndef GPUHELPER_ASK_GRANTQUERY_H
#define GPUHELPER_ASK_GRANTQUERY_H

#include "identity.h"

struct grant_query {
	struct client who;
	struct principal principal;		/* only the identity is used */
	const char *gpus, *folders;	/* as requested; NULL: not requested */
	bool privileged;		/* the container is, and only a policy can allow that */
	const char *cuda_visible, *rocr_visible;	/* the bounds of the GPUs (gpubound.h); NULL: none */
	struct settings settings;	/* only those that decide which GPUs may be granted */
	struct policy_set policies;	/* for this caller, and broken ones; without their variables */
	uint32_t files;			/* number of policy files */
	struct why gpus_unknown;		/* why the host's GPUs are unknown; WHY_NONE: they are in «inventory» */
	struct inventory inventory;	/* with names in CDI specs, and ranks */
};

/* Writes or reads it as lines (lines.h). The caller calls grant_query_free() after reading, in any case. */
void grant_query_lines(struct lines *t, struct grant_query *a);
/* Frees a question that was read. */
void grant_query_free(struct grant_query *a);

#endif
