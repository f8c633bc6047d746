/* Does the operations of the helper (lease/callerop.h): work that the helper itself may not do. */
#ifndef GPUHELPER_USER_ASK_CALLEROPS_H
#define GPUHELPER_USER_ASK_CALLEROPS_H

#include "../../ask/request.h"
#include "../../lease/callerop.h"

/*
 * Does all operations. Writes their outcome to *next (retry.revoked, no_ops), for the next request to the helper.
 * Returns 0, or -1 with *why of the first operation that failed; the others are done nevertheless.
 */
int caller_ops_do(const struct caller_ops *c, struct request *next, struct why *why);

#endif
