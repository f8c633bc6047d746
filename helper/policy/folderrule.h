/* One entry of a policy's «folders». */
#ifndef GPUHELPER_POLICY_FOLDERRULE_H
#define GPUHELPER_POLICY_FOLDERRULE_H

#include "../kernel/secontext.h"
#include "conffault.h"

struct folder_rule {
	unsigned line;
	char *path;			/* the last component may contain * and ? */
	bool writable;
	char *target;			/* in the container; NULL: path */
	bool subfolders;		/* a request may name a folder beneath it */
	bool submounts;			/* mounts beneath it are included */
	enum relabel relabel;		/* SELinux */
};

/* Adds to *f why the rule's folder must never be granted, or its target never be mounted over in a container. */
void folder_rule_check(const struct folder_rule *r, struct faults *f);
void folder_rule_free(struct folder_rule *r);

/* The options of its bind mount, ending with NULL. */
const char *const *folder_rule_options(bool submounts, bool writable);

#endif
