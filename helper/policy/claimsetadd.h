/* Makes and reads sets of claims (claimset.h). */
#ifndef GPUHELPER_POLICY_CLAIMSETADD_H
#define GPUHELPER_POLICY_CLAIMSETADD_H

#include "claimset.h"

#define CLAIMS_MAX 256		/* pairs in a policy or in a setting */

/* Adds copies. False if memory is short. */
bool claim_set_add(struct claim_set *s, const char *name, const char *value);
/* The first value of that name; NULL if there is none. */
const char *claim_set_value(const struct claim_set *s, const char *name);

#endif
