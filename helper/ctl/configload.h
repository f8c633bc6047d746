/* The directory of settings and policies that an option names, read. */
#ifndef GPUHELPER_CTL_CONFIGLOAD_H
#define GPUHELPER_CTL_CONFIGLOAD_H

#include "../pure/policyset.h"
#include "../pure/settings.h"
#include "ctl.h"

struct config {
	char *dir;			/* as of ctl_config_dir(), like the next one */
	bool strict;
	struct settings settings;
	struct policy_set policies;	/* a broken one is in it, with its fault */
};

/* What is in o->config_dir, read with its caller's rights.  -1 with *why.  config_free() in either case. */
int config_load(const struct options *o, struct config *out, struct why *why);
void config_free(struct config *c);
#define autoconfig __attribute__((cleanup(config_free)))

#endif
