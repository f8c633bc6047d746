/* Selects records of the audit log by pipeline and instance variables, for «audit show» and «report». */
#ifndef GPUHELPER_CTL_AUDIT_AUDITFILTER_H
#define GPUHELPER_CTL_AUDIT_AUDITFILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "../../base/text.h"

struct options;

/* Checks --pipeline and each --instance-var.  0, or the exit status after a complaint. */
int audit_filter_check(const struct options *o, const char *command);

/* Appends --pipeline and --instance-var in words; appends nothing if neither was given. */
void audit_filter_describe(const struct options *o, struct buf *out);

/*
 * True if the options select a record. «pipeline» is its TEAM/PIPELINE and «vars» its instance_vars, each "" if the
 * record has none. A variable matches if its string or its compact JSON is the wanted value. left_out: the record
 * had no room for all its variables; a variable that the record lacks then counts as a match, so that no record is
 * hidden wrongly.
 */
bool audit_filter_takes(const struct options *o, const char *pipeline, const char *vars, bool left_out);

#endif
