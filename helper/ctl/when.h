/* Times on gpuhelperctl's command line. */
#ifndef GPUHELPER_CTL_WHEN_H
#define GPUHELPER_CTL_WHEN_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds since 1970, or RFC 3339 ("2026-11-20T23:06:00Z") without its fraction of a second; false: neither. */
bool when_read(const char *s, int64_t *out);

/* The same, or how long ago: "90s", "30m", "12h", "7d"; «now» is the time, seconds since 1970. */
bool when_read_ago(const char *s, int64_t now, int64_t *out);

#endif
