/*
 * gpuhelper-read, as the helper speaks to it: another program, which parses what an administrator wrote.  The helper
 * finds the files, sees that they are root's, and sends their bytes; what comes back is lines (pure/table.h).
 */
#ifndef GPUHELPER_ROOT_READER_H
#define GPUHELPER_ROOT_READER_H

#include "../host/cdidirs.h"
#include "../pure/policyset.h"
#include "../pure/settings.h"

/* To be called before the filter (filter.h).  Where it can't be started, whoever asks later is told why. */
void reader_start(void);
void reader_end(void);

/*
 * The settings and the policies of this host.  -1 with *why: a file can't be had, is not root's alone, or the settings
 * don't parse.  settings_free() and policy_set_free() in either case.
 */
int reader_reads(struct settings *s, struct policy_set *p, struct why *why);

/* A cdi_parser (host/cdidirs.h). */
int reader_parses_specs(struct cdi_registry *r, struct why *why);

#endif
