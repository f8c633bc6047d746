/* A libconfig value as JSON: instance_vars of a policy, as a token has them. */
#ifndef GPUHELPER_READ_CONFJSON_H
#define GPUHELPER_READ_CONFJSON_H

#include <jansson.h>
#include <libconfig.h>

#include "../pure/conffault.h"

/* A new reference; NULL where there is no memory, or the value is of a kind that JSON lacks.  Adds faults to *f. */
json_t *conf_json(config_setting_t *s, struct faults *f);

#endif
