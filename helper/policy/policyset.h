/* All policy files, parsed, in the order in which they apply. */
#ifndef GPUHELPER_POLICY_POLICYSET_H
#define GPUHELPER_POLICY_POLICYSET_H

#include "policy.h"

#define POLICY_FILES_MAX 4096

struct policy_entry {
	struct policy policy;	/* only its name, if the file is broken */
	char *broken;		/* the fault, as in refusals; NULL: none */
};

struct policy_set {
	struct policy_entry *v;
	size_t n;
};

void policy_set_free(struct policy_set *s);
#define autopolicyset __attribute__((cleanup(policy_set_free)))

#endif
