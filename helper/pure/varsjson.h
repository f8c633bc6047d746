/* Variables of a pipeline's instance, of JSON: a token's, a claim's, a policy's as its reader has made them. */
#ifndef GPUHELPER_PURE_VARSJSON_H
#define GPUHELPER_PURE_VARSJSON_H

#include <jansson.h>

#include "instancevars.h"
#include "why.h"

/* Of an object; NULL is none.  False: no memory.  instance_vars_free() in either case. */
bool instance_vars_of(const json_t *object, struct instance_vars *out);

/* And back, a new reference; NULL: there are none, or no memory. */
json_t *instance_vars_json(const struct instance_vars *v);

#endif
