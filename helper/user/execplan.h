/* What an exec changes: the new process.json, and the waiter before the program. */
#ifndef GPUHELPER_USER_EXECPLAN_H
#define GPUHELPER_USER_EXECPLAN_H

#include <stdbool.h>

#include "../host/file.h"
#include "../lease/edits.h"
#include "../lease/editsdriver.h"
#include "../policy/settings.h"
#include "command/argv.h"
#include "record/execrecordread.h"
#include "task/waiter.h"

/* The changes to the options: paths[i] is the new process.json of the i-th, or "" if that one stays. */
struct exec_plan {
	char (*paths)[FILE_LINK_MAX];
	bool has_process;
	bool strong;		/* the new process is to have strong capabilities (speccapability.h) */
	bool task;		/* it takes the container's promised GPUs */
	struct waiter waiter;	/* before its program */
	char warning[NOTE_MAX];	/* of its variables; "": none */
};

/*
 * Reads all options about the process, before the helper is told of it, and fills *p, which must be empty. The new
 * files are valid until this process becomes the runtime. Returns 0, or -1 with *why. The caller frees p->paths.
 */
int exec_plan_make(int argc, char *const *argv, const struct command *c, const struct exec_record *r,
    const struct settings *s, struct exec_plan *p, struct why *why);

#endif
