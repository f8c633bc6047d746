/* Keeps a copy of the last gpuhelper.conf without errors. */
#ifndef GPUHELPER_CTL_CHECK_LASTGOOD_H
#define GPUHELPER_CTL_CHECK_LASTGOOD_H

#include <stdbool.h>
#include <stddef.h>

#define LAST_GOOD GPUHELPER_STATEDIR "/gpuhelper.conf.good"

/* Makes this text the copy.  Does nothing unless root runs it; ignores errors. */
void last_good_keep(const char *text, size_t len);
/* Writes when the copy was made, «2026-11-20T23:06:00Z».  False if there is none, or this user may not see it. */
bool last_good_time(char out[32]);

#endif
