/*
 * The variables of a pipeline's instance (Concourse's instance_vars), or those in a policy: names, and values
 * as JSON in one spelling (no blanks, objects sorted by name), so that equal values have equal texts.
 */
#ifndef GPUHELPER_PURE_INSTANCEVARS_H
#define GPUHELPER_PURE_INSTANCEVARS_H

#include <stdbool.h>

#include "lines.h"
#include "text.h"

struct instance_vars {
	bool there;		/* variables were given, if only an empty set */
	struct strlist name, value;
};
void instance_vars_free(struct instance_vars *v);

/* As lines (lines.h). */
void instance_vars_lines(struct lines *s, struct instance_vars *v);

#endif
