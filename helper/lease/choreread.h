/* Reads chores (chore.h) back, for the process that is to do them. */
#ifndef GPUHELPER_LEASE_CHOREREAD_H
#define GPUHELPER_LEASE_CHOREREAD_H

#include <jansson.h>

#include "chore.h"

/* Reads what chores_write() wrote. False for anything else. The caller calls chores_free() in any case. */
bool chores_unpack(const json_t *j, struct chores *c);

#endif
