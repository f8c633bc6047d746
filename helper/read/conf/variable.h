/* Names of environment variables. */
#ifndef GPUHELPER_READ_CONF_VARIABLE_H
#define GPUHELPER_READ_CONF_VARIABLE_H

#include <stdbool.h>

/* True for a name of letters, digits and underscores that does not begin with a digit. */
bool variable_is_name(const char *name);

/* True for such a name of at most 64 bytes that no other program reads: processes lose the variable. */
bool variable_may_have_token(const char *name);

#endif
