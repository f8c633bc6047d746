/* Reads the exec record of a container: what root wrote at the grant for execs into it. */
#ifndef GPUHELPER_USER_RECORD_EXECRECORDREAD_H
#define GPUHELPER_USER_RECORD_EXECRECORDREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../base/text.h"
#include "../../base/why.h"
#include "../command/argv.h"

/* What exec_record_write() (root/end/execrecord.c) wrote. */
struct exec_record {
	struct strlist env;
	uint32_t gid[64];
	size_t gids;
	char *label;		/* SELinux label, or NULL */
	char *text;		/* a text for the user, or NULL */
	struct strlist notes;	/* warnings, lines after it */
	struct strlist gpus;	/* the granted GPUs (lease/edits.h), in a record with a text */
	struct strlist tokens;	/* not in the record: variables with tokens, besides GPUHELPER_TOKEN (tokennames.h) */
	bool found;		/* the container was granted something: the audit log records the exec */
	bool privileged;	/* it was allowed to be privileged */
	bool promised;		/* GPUs: a task takes them before it begins (lease/leasetasks.h) */
};

/*
 * Reads the record of the command's container into *r, which must be empty. A container without one was granted
 * nothing. Root's wrapper believes no record that says more than was checked at the container's creation
 * (grantrecord.h). Returns 0, or -1 with *why. The caller calls exec_record_free() in any case.
 */
int exec_record_read(const struct command *c, struct exec_record *r, struct why *why);
void exec_record_free(struct exec_record *r);

#endif
