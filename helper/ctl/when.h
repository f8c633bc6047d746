/* Parses times on gpuhelperctl's command line. */
#ifndef GPUHELPER_CTL_WHEN_H
#define GPUHELPER_CTL_WHEN_H

#include <stdbool.h>
#include <stdint.h>

/* Parses seconds since 1970, or RFC 3339 ("2026-11-20T23:06:00Z"); ignores fractions of a second.  False: neither. */
bool when_read(const char *s, int64_t *out);

/* Likewise, or parses a time before «now» (seconds since 1970): "90s", "30m", "12h", "7d". */
bool when_read_ago(const char *s, int64_t now, int64_t *out);

#endif
