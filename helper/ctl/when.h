/* Parses times on gpuhelperctl's command line. */
#ifndef GPUHELPER_CTL_WHEN_H
#define GPUHELPER_CTL_WHEN_H

#include <stdbool.h>
#include <stdint.h>

struct options;

/* Parses seconds since 1970, or RFC 3339 ("2026-11-20T23:06:00Z"); ignores fractions of a second.  False: neither. */
bool when_read(const char *s, int64_t *out);

/*
 * Likewise, or as journalctl(1) reads --since: "now", "today", "yesterday", a local date and time ("2026-11-25",
 * "2026-11-25 08:30"), or a time before «now» (seconds since 1970): "90s", "1h30m", "7d", "2 weeks ago". False also for
 * a bare number that can't have been meant as seconds since 1970.
 */
bool when_read_ago(const char *s, int64_t now, int64_t *out);

/* Likewise for the text after «option», which may be missing (NULL).  0, or the exit status after a complaint. */
int when_option(const struct options *o, const char *command, const char *option, const char *s, int64_t now,
    int64_t *out);

#endif
