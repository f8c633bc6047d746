/*
 * gpuhelperctl: the administrator's tool.  Must never have more rights than its caller: it reads and writes files that
 * the caller names.
 *
 * Each subcommand has a file of its own; commands.c lists them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "../user/namespace.h"
#include "cmdline.h"

int
main(int argc, char **argv)
{
	struct options o = { .config_dir = GPUHELPER_CONFDIR };
	const char **devices, **vars;
	char **words;
	int status;

	if (getauxval(AT_SECURE) != 0)
		return complain(WHY_DENIED, "must not be setuid or setgid, nor have file capabilities: chmod 0755 gpuhelperctl "
		    "and setcap -r it");
	namespace_begin();
	words = calloc((size_t)argc + 1, sizeof(*words));
	devices = calloc((size_t)argc + 1, sizeof(*devices));
	vars = calloc((size_t)argc + 1, sizeof(*vars));
	o.arg = words;
	o.device = devices;
	o.instance_var = vars;
	status = words != NULL && devices != NULL && vars != NULL ? cmdline_run(argc, argv, &o) :
	    complain(WHY_BUG, "out of memory");
	free(words);
	free(devices);
	free(vars);
	/* a program must not take truncated output for complete */
	if (fflush(stdout) == EOF || ferror(stdout))
		return complain(WHY_IO, "can't write to stdout");
	return status;
}
