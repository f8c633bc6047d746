/* Reads operations (callerop.h) back, for the process that is to do them. */
#ifndef GPUHELPER_LEASE_CALLEROPREAD_H
#define GPUHELPER_LEASE_CALLEROPREAD_H

#include <jansson.h>

#include "callerop.h"

/* Reads what caller_ops_write() wrote. False for anything else. The caller calls caller_ops_free() in any case. */
bool caller_ops_unpack(const json_t *j, struct caller_ops *c);

#endif
