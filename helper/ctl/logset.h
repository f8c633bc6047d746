/* Files of the audit log that stay what they are while they are read: open, and read as far as they went by then. */
#ifndef GPUHELPER_CTL_LOGSET_H
#define GPUHELPER_CTL_LOGSET_H

#include <glob.h>

#include "auditlog.h"

struct log_set {
	struct log_file *v;	/* in the order in which they were written */
	size_t n;
	glob_t names;
};

/* Those of these names, which are borrowed.  -1 with *why; log_set_end() in either case. */
int log_set_named(char *const *path, size_t n, struct log_set *out, struct why *why);
/*
 * Likewise this host's log and what was rotated from it, as they were at one moment: a rotation meanwhile loses none of
 * them, and gives none twice.
 */
int log_set_of_host(struct log_set *out, struct why *why);
void log_set_end(struct log_set *s);

#endif
