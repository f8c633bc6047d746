/* One record of the audit log as a line for people, for «audit show» and «audit follow». */
#ifndef GPUHELPER_CTL_AUDIT_AUDITLINE_H
#define GPUHELPER_CTL_AUDIT_AUDITLINE_H

#include <jansson.h>

#include "../../base/text.h"

/* Writes TEAM/PIPELINE, or "" if the record names no pipeline. */
void audit_pipeline(const json_t *record, char out[256]);
/* The same from the two names. */
void audit_pipeline_name(const char *team, const char *pipeline, char out[256]);
/*
 * Appends instance variables as a record has them.  A claim that is no JSON object is quoted: unquoted, it could
 * imitate the text that follows.
 */
void audit_vars(const char *vars, struct buf *out);
/*
 * Appends the record to *out, without a newline.  The text may contain control characters that a task's author put
 * there; a caller that prints it must escape them, as say() does.
 */
void audit_line(const json_t *record, struct buf *out);

/* True if the record is a refusal: of a container, of an exec, or of an exec's GPU. */
bool audit_is_denial(const json_t *record);

/*
 * True if the helper may write records with this event outside the chain. A helper that can't leave its caller's
 * cgroup does so. Otherwise the caller could freeze the helper while it has the chain's lock, and so block all
 * others (root/log/audit.c). Such a helper grants nothing, so only these events occur.
 */
bool audit_stands_outside(const char *event);

#endif
