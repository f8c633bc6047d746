/*
 * A folder of a decision (decisionindexes.h) or of an authorization (authzquery.h): which rule gives it, and what is
 * given.
 */
#ifndef GPUHELPER_ASK_GRANTEDFOLDER_H
#define GPUHELPER_ASK_GRANTEDFOLDER_H

#include "../base/lines.h"
#include "../policy/policygrant.h"

struct granted_folder {
	uint32_t rule;		/* its index in the policy */
	char *path;		/* NULL: the rule's own path */
	bool writable;
};

/* The fields of a struct granted_folder. */
void granted_folder_fields(struct lines *t, void *folder);
void granted_folders_free(struct granted_folder *f, size_t n);

/* Gives it, if the rule gives it. 0, or -1 with *t->why: WHY_BUG, and what «by» has said. */
int granted_folder_give(const struct granted_folder *f, const char *by, const struct giving *t);

#endif
