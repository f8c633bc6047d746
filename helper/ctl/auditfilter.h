/* Which records of the audit log are wanted, by the pipeline that they name: of «audit show» and «report». */
#ifndef GPUHELPER_CTL_AUDITFILTER_H
#define GPUHELPER_CTL_AUDITFILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "../pure/text.h"

struct options;

/* Takes --instance-var as it is.  False: one of them is not NAME=VALUE; *wrong is that one. */
bool audit_filter_check(const struct options *o, const char **wrong);

/* Appends --pipeline and --instance-var in words; nothing where neither was given. */
void audit_filter_describe(const struct options *o, struct buf *out);

/*
 * Is a record wanted?  «pipeline» and «vars» are what it names as TEAM/PIPELINE and as instance_vars, "" where it names
 * none.  A variable has a value if it is that string, or that in JSON of one spelling.  One that may be among those
 * that there was no room for («left_out») is rather taken for the wanted one.
 */
bool audit_filter_takes(const struct options *o, const char *pipeline, const char *vars, bool left_out);

#endif
