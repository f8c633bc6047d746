/* The variables of a pipeline's instance as text. */
#ifndef GPUHELPER_POLICY_INSTANCEVARSTEXT_H
#define GPUHELPER_POLICY_INSTANCEVARSTEXT_H

#include "../base/lines.h"
#include "instancevars.h"

#define VARS_SHORT 128		/* a variable of at most so many bytes is never left out for a longer one */

/*
 * Appends them as the text of one JSON object, of at most VARS_SHOWN_MAX bytes. Variables that do not fit are left out
 * whole; one of at most VARS_SHORT bytes takes precedence over a longer one, so that whoever may choose the name of a
 * branch cannot push the number of its pull request out. Returns how many were left out. Does not check that a value is
 * JSON: the caller escapes the text for a record.
 */
size_t instance_vars_show(const struct instance_vars *v, struct buf *out);

/* As lines (lines.h). */
void instance_vars_lines(struct lines *s, struct instance_vars *v);

#endif
