/* A record of the audit log in words, for people: of «audit show» and «audit follow». */
#ifndef GPUHELPER_CTL_AUDITLINE_H
#define GPUHELPER_CTL_AUDITLINE_H

#include <jansson.h>

#include "../pure/text.h"

/* TEAM/PIPELINE; "" where the record names none. */
void audit_pipeline(const json_t *record, char out[256]);
/* The same of its two parts. */
void audit_pipeline_name(const char *team, const char *pipeline, char out[256]);
/*
 * Appends the record to *out, without a newline at its end.  Who prints that has it made harmless first: a task's
 * author may have put control characters into it.
 */
void audit_line(const json_t *record, struct buf *out);

/* True of what was refused: a container, a process that was to be started in one, or that process' GPU. */
bool audit_is_denial(const json_t *record);

/*
 * Only who could stop others, and is refused for that or for what was wrong before, has records outside (root/audit.c);
 * and what his wrapper or his quota tells.
 */
bool audit_stands_outside(const char *event);

#endif
