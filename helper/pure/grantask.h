/*
 * The question of a grant, as the helper puts it to gpuhelper-judge: who asks, in which words, and by which settings,
 * policies and GPUs that is to be decided.  The helper looks into none of the words of a task's author.
 */
#ifndef GPUHELPER_PURE_GRANTASK_H
#define GPUHELPER_PURE_GRANTASK_H

#include "identity.h"

struct grant_ask {
	struct asker who;
	struct known known;		/* of which the identity counts */
	const char *gpus, *folders;	/* as asked for; NULL: not asked for */
	const char *cuda_visible, *rocr_visible;	/* what bounds the GPUs; NULL: nothing does */
	struct settings settings;	/* of which those count that say which GPUs may be given */
	struct policy_set policies;	/* those that list this caller, and the broken ones; without their variables */
	uint32_t files;			/* how many policy files there are */
	struct why blind;		/* why the host's GPUs are not known; WHY_NONE: the inventory has them */
	struct inventory inventory;	/* with the names that CDI specs have for them, and their ranks */
};

/* As lines (lines.h): writes a value, or reads it back; grant_ask_free() then, whatever became of it. */
void grant_ask_lines(struct lines *t, struct grant_ask *a);
/* Of one that was read. */
void grant_ask_free(struct grant_ask *a);

#endif
