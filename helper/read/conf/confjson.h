/* Converts a libconfig value to JSON, for comparing instance_vars of a policy with those of a token. */
#ifndef GPUHELPER_READ_CONF_CONFJSON_H
#define GPUHELPER_READ_CONF_CONFJSON_H

#include <jansson.h>
#include <libconfig.h>

#include "../../policy/conffault.h"

/* Returns a new reference. NULL if memory is short or JSON has no such kind of value. Adds faults to *f. */
json_t *conf_json(config_setting_t *s, struct faults *f);

#endif
