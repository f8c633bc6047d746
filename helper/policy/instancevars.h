/*
 * The variables of a pipeline's instance (Concourse's instance_vars), or those in a policy: names, and values
 * as JSON in one spelling (no blanks, objects sorted by name), so that equal values have equal texts.
 */
#ifndef GPUHELPER_POLICY_INSTANCEVARS_H
#define GPUHELPER_POLICY_INSTANCEVARS_H

#include <stdbool.h>

#include "../base/text.h"

struct instance_vars {
	bool there;		/* variables were given, perhaps an empty set */
	struct strlist name, value;
};
void instance_vars_free(struct instance_vars *v);

#define VARS_SHOWN_MAX 1024	/* bytes of their text in a record of the audit log */

#endif
