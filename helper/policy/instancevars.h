/*
 * The variables of a pipeline's instance (Concourse's instance_vars), or those in a policy: names, and values
 * as JSON in one spelling (no blanks, objects sorted by name), so that equal values have equal texts.
 */
#ifndef GPUHELPER_POLICY_INSTANCEVARS_H
#define GPUHELPER_POLICY_INSTANCEVARS_H

#include <stdbool.h>

#include "../base/lines.h"
#include "../base/text.h"

struct instance_vars {
	bool there;		/* variables were given, perhaps an empty set */
	struct strlist name, value;
};
void instance_vars_free(struct instance_vars *v);

#define VARS_SHOWN_MAX 1024	/* bytes of their text in a record of the audit log */
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
