/*
 * Variables of a pipeline's instance (Concourse's instance_vars), or those that a policy is for: names, and values as
 * JSON of one spelling (no blanks, an object's names in order).  So two values are equal if their texts are.
 */
#ifndef GPUHELPER_PURE_INSTANCEVARS_H
#define GPUHELPER_PURE_INSTANCEVARS_H

#include <stdbool.h>

#include "lines.h"
#include "text.h"

struct instance_vars {
	bool there;		/* a group of them was given, be it empty */
	struct strlist name, value;
};
void instance_vars_free(struct instance_vars *v);

/* As lines (lines.h). */
void instance_vars_lines(struct lines *s, struct instance_vars *v);

#endif
