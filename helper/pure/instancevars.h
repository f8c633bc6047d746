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

/* A variable's value; NULL: there is none of that name, or v is NULL. */
const char *instance_var(const struct instance_vars *v, const char *name);

/* A value (NULL: none) as a person would write it, as far as one line has room. */
void instance_var_describe(const char *value, char out[80]);

/* As lines (lines.h). */
void instance_vars_lines(struct lines *s, struct instance_vars *v);

#endif
