/* What a program of ours that the helper has started (spawn.h) does before it hears anything. */
#ifndef GPUHELPER_ROOT_CONFINE_H
#define GPUHELPER_ROOT_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "filter.h"

struct confinement {
	const char *name;
	rlim_t memory;		/* bytes of address space */
	const int *kept;	/* capabilities(7) */
	size_t n;
	enum filter_child filter;
	bool as_root;		/* else it does nothing as root: it was not started as it should */
};

/*
 * main() of such a program, up to what it hears: answers --version, and refuses to be started by anybody but the
 * helper.  Then the process ends with the helper, has its channel and nothing else open, and these rights for good.
 * -1: go on; else the exit status.
 */
int confined_start(int argc, char **argv, const struct confinement *c);

#endif
