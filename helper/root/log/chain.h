/* Appends to the audit log's chain (lease/auditchain.h), one helper at a time. */
#ifndef GPUHELPER_ROOT_LOG_CHAIN_H
#define GPUHELPER_ROOT_LOG_CHAIN_H

#include "../../base/text.h"
#include "../../base/why.h"

/*
 * Appends the line of a record, with its newline, to the log as the chain's next record. «log» is the log, open for
 * reading and appending; if the log was rotated since, reopen() opens the new one. -1 with *why: the line was not
 * written whole (WHY_AGAIN: another helper has the chain for too long). The caller must have left its caller's cgroup
 * (owncgroup.h): a helper that is stopped here stops all others.
 */
int chain_append(int log, int (*reopen)(struct why *why), const struct buf *line, struct why *why);

#endif
