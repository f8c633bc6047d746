/* A copy of the last gpuhelper.conf that had no error. */
#ifndef GPUHELPER_CTL_LASTGOOD_H
#define GPUHELPER_CTL_LASTGOOD_H

#include <stdbool.h>
#include <stddef.h>

#define LAST_GOOD GPUHELPER_STATEDIR "/gpuhelper.conf.good"

/* Keeps this text as it, for root; others keep nothing.  What can't be written is passed over. */
void last_good_keep(const char *text, size_t len);
/* When the copy was made, «2026-11-20T23:06:00Z»; false: there is none that who asks may see. */
bool last_good_time(char out[32]);

#endif
