/* Chores (chore.h), read back by who is to do them. */
#ifndef GPUHELPER_PURE_CHOREREAD_H
#define GPUHELPER_PURE_CHOREREAD_H

#include <jansson.h>

#include "chore.h"

/* Of what chores_write() wrote; false for what it would not have made.  chores_free() in either case. */
bool chores_unpack(const json_t *j, struct chores *c);

#endif
