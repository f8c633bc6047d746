/* What a program of ours that the helper has started (spawn.h) does before it reads anything. */
#ifndef GPUHELPER_ROOT_SELF_CONFINE_H
#define GPUHELPER_ROOT_SELF_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "filterchild.h"

struct confinement {
	const char *name;
	rlim_t memory;		/* bytes of address space */
	const int *kept;	/* capabilities(7) that it keeps */
	size_t n;
	enum filter_child filter;
	bool as_root;		/* it stays root; else it becomes the user of its name, if the helper has not done that */
};

/*
 * The beginning of such a program's main(): answers --version, and refuses to be started by anybody but the helper.
 * From then on the process ends with the helper, has nothing open but the descriptors of spawn.h, and has these rights
 * for good. -1: go on; else the exit status.
 */
int confined_start(int argc, char **argv, const struct confinement *c);

#endif
