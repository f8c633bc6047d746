/* One entry of a policy's «folders»: a folder that it gives out. */
#ifndef GPUHELPER_PURE_FOLDERRULE_H
#define GPUHELPER_PURE_FOLDERRULE_H

#include "conffault.h"
#include "secontext.h"

struct folder_rule {
	unsigned line;
	char *path;			/* the last component may have * and ? */
	bool writable;
	char *target;			/* in the container; NULL: path */
	bool subfolders;		/* one beneath it may be asked for */
	bool submounts;			/* mounts beneath come along */
	enum relabel relabel;		/* SELinux */
};

/* What of a rule that has a path may never be given out, nor be covered in a container, goes to *f. */
void folder_rule_check(const struct folder_rule *r, struct faults *f);
void folder_rule_free(struct folder_rule *r);

/* True if the path, an absolute one, lies strictly beneath a folder that the rule gives for writing. */
bool folder_rule_holds(const struct folder_rule *r, const char *path);

#endif
