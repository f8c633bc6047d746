/* gpuhelperctl metrics: what its parts share. */
#ifndef GPUHELPER_CTL_METRICS_H
#define GPUHELPER_CTL_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "../pure/text.h"
#include "../pure/why.h"

/* Begins a metric: writes its HELP and TYPE lines.  The type is «counter», «gauge» or «histogram». */
void metric_begin(struct buf *b, const char *name, const char *type, const char *help);
/* Adds a sample.  «labels» are pairs of name and value, ended by NULL; values may contain any characters. */
void metric_add(struct buf *b, const char *name, int64_t value, const char *const *labels);

/*
 * Adds the counts of the audit log: records by event, refusals by reason, waits.  A log that does not exist yet counts
 * as empty.  -1 with *why, with nothing added, if the log can't be read.
 */
int metrics_of_log(const char *path, struct buf *b, struct why *why);

#endif
