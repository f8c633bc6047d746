/* gpuhelperctl metrics: what its parts share. */
#ifndef GPUHELPER_CTL_METRICS_H
#define GPUHELPER_CTL_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "../pure/text.h"
#include "../pure/why.h"

/* A new metric: its HELP and TYPE lines («counter», «gauge», «histogram»). */
void metric_begin(struct buf *b, const char *name, const char *type, const char *help);
/* One sample of it; «labels» are pairs of name and value, up to a NULL.  Values may be anything. */
void metric_add(struct buf *b, const char *name, int64_t value, const char *const *labels);

/*
 * Adds what the audit log counts: records by event, refusals by reason.  -1 with *why where the log can't be read;
 * nothing is added then.  A log that does not exist yet has no records.
 */
int metrics_of_log(const char *path, struct buf *b, struct why *why);

#endif
