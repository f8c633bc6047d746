/* What a program of ours that the helper has started (spawn.h) does before it hears anything. */
#ifndef GPUHELPER_ROOT_CONFINE_H
#define GPUHELPER_ROOT_CONFINE_H

#include <stddef.h>
#include <sys/resource.h>

#include "filter.h"

struct confinement {
	const char *name;
	rlim_t memory;		/* bytes of address space */
	const int *kept;	/* capabilities(7) */
	size_t n;
	enum filter_child filter;
};

/* Ends with the helper, has its channel and nothing else open, and these rights for good.  -1 with *why. */
int confine(const struct confinement *c, struct why *why);

#endif
