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

/*
 * Opens the files with these names, which are borrowed; with n = 0, this host's log and its rotated files, as they were
 * at one moment.  -1 with *why.  The caller calls log_set_end() in any case.
 */
int log_set_open(char *const *path, size_t n, struct log_set *out, struct why *why);
void log_set_end(struct log_set *s);
#define autologset __attribute__((cleanup(log_set_end)))

#endif
