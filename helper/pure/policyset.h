/* All policy files, read, in the order in which they are asked. */
#ifndef GPUHELPER_PURE_POLICYSET_H
#define GPUHELPER_PURE_POLICYSET_H

#include "policy.h"

#define POLICY_FILES_MAX 4096

struct policy_entry {
	struct policy policy;	/* where the file is broken, its name alone */
	char *broken;		/* what is wrong with it, as a refusal says it; NULL: nothing */
};

struct policy_set {
	struct policy_entry *v;
	size_t n;
};
/* The one of that name, which is in the set. */
const struct policy *policy_of_name(const struct policy_set *s, const char *name);

void policy_set_free(struct policy_set *s);
#define autopolicyset __attribute__((cleanup(policy_set_free)))

#endif
