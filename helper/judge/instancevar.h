/* One variable of a pipeline's instance. */
#ifndef GPUHELPER_JUDGE_INSTANCEVAR_H
#define GPUHELPER_JUDGE_INSTANCEVAR_H

#include "../pure/instancevars.h"

/* A variable's value; NULL: there is none of that name, or v is NULL. */
const char *instance_var(const struct instance_vars *v, const char *name);

/* A value (NULL: none) as a person would write it, as far as one line has room. */
void instance_var_describe(const char *value, char out[80]);

#endif
