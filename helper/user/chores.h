/* Does what the helper may not do by itself (pure/chore.h). */
#ifndef GPUHELPER_USER_CHORES_H
#define GPUHELPER_USER_CHORES_H

#include "../pure/chore.h"
#include "../pure/request.h"

/*
 * Does them all, and writes into *next what the helper is to know of that when it
 * is asked the next time (shut, no_chores).  -1 with *why, the first that went
 * wrong; the others are done all the same.
 */
int chores_do(const struct chores *c, struct request *next, struct why *why);

#endif
