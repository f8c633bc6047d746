/* Variables of a pipeline's instance from JSON: a token's, a claim's, or a policy's. */
#ifndef GPUHELPER_POLICY_VARSJSON_H
#define GPUHELPER_POLICY_VARSJSON_H

#include <jansson.h>

#include "../base/why.h"
#include "instancevars.h"

/* Gets them from an object; NULL has none. False if memory is short. instance_vars_free() in any case. */
bool instance_vars_of(const json_t *object, struct instance_vars *out);

/* Makes an object of them, a new reference. NULL if there are none or memory is short. */
json_t *instance_vars_json(const struct instance_vars *v);

#endif
