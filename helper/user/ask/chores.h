/* Does the chores of the helper (lease/chore.h): work that the helper itself may not do. */
#ifndef GPUHELPER_USER_ASK_CHORES_H
#define GPUHELPER_USER_ASK_CHORES_H

#include "../../ask/request.h"
#include "../../lease/chore.h"

/*
 * Does all chores. Writes their outcome to *next (shut, no_chores), for the next request to the helper. Returns 0,
 * or -1 with *why of the first chore that failed; the others are done nevertheless.
 */
int chores_do(const struct chores *c, struct request *next, struct why *why);

#endif
