/* The variables of a pipeline's instance. */
#ifndef GPUHELPER_JUDGE_INSTANCEVAR_H
#define GPUHELPER_JUDGE_INSTANCEVAR_H

#include "../policy/instancevars.h"

/* The value of a variable; NULL if there is none of that name, or «v» is NULL. */
const char *instance_var(const struct instance_vars *v, const char *name);

/* Writes a value (NULL if there is none) for a person to read, cut to fit on a line. */
void instance_var_describe(const char *value, char out[80]);

#endif
