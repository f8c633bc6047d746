/* How many records a minute one user may cause: the log, and the disk under it, are everyone's. */
#ifndef GPUHELPER_ROOT_RATE_H
#define GPUHELPER_ROOT_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define RATE_PER_MINUTE 3000

/*
 * True if this user may have one more record written now (root always may).
 * *suppressed gets how many were not in an earlier minute and have not been told
 * of yet.  Where the count can't be kept, nothing is held back.
 */
bool rate_allows(uint32_t uid, int64_t now, uint32_t *suppressed);

#endif
