/* gpuhelperctl metrics: what its parts share. */
#ifndef GPUHELPER_CTL_METRICS_METRICS_H
#define GPUHELPER_CTL_METRICS_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../base/text.h"
#include "../../base/why.h"
#include "../ctl.h"

#define METRICS_PAGE "gpuhelper.prom"
#define METRICS_MAX (1024 * 1024)	/* bytes of a page that root copies */

/* The names of the texts that metrics_gather() packs; besides gpuhelper.conf (etc.h) and the list of drained.h. */
#define GATHERED "gathered"		/* the file that has them all */
#define GATHER_STATUS "status"		/* the helper's reply */
#define GATHER_ALL "all"		/* root asked, so the leases are those of all users */
#define GATHER_CONFIG "configuration"	/* all policies are there; the text is their directory's path */
#define GATHER_POLICY "policy.d/"	/* with the policy's name */
#define GATHER_SPEC "spec:"		/* with a CDI spec's path; the text is its time, in seconds since 1970 */
#define GATHER_FAILED "!"		/* with the name of one above: why it is missing, as «CODE REASON» */

/*
 * Collects what the metrics are made of, except for the GPUs and the log, with the caller's rights; asks the helper.
 * Parses nothing.  A part that fails is packed as its reason.  Returns *len bytes, which the caller frees and
 * read_query_unpack() unpacks; NULL with *why.
 */
char *metrics_gather(const struct options *o, size_t *len, struct why *why);

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
