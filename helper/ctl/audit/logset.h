/* A consistent set of the audit log's files: open, and read up to the size that each had then. */
#ifndef GPUHELPER_CTL_AUDIT_LOGSET_H
#define GPUHELPER_CTL_AUDIT_LOGSET_H

#include <glob.h>

#include "auditlog.h"

struct log_set {
	struct log_file *v;	/* in the order in which they were written */
	size_t n;
	glob_t names;
};

/* Opens the files with these names, which are borrowed.  -1 with *why.  The caller calls log_set_end() in any case. */
int log_set_named(char *const *path, size_t n, struct log_set *out, struct why *why);
/*
 * Likewise opens this host's log and its rotated files, as they were at one moment.  A rotation at the same time
 * neither loses a file nor yields one twice.
 */
int log_set_of_host(struct log_set *out, struct why *why);
void log_set_end(struct log_set *s);

#endif
