/*
 * gpuhelperctl: the administrator's tool.  Runs with the rights of who calls it
 * and must never have more: it reads files that its caller names.
 *
 * Each subcommand has a file of its own; commands.c knows them all.
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
		return complain(WHY_DENIED, "started with more rights than its caller has: it must not be setuid, setgid or "
		    "have file capabilities (chmod 0755 it)");
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
	/* half a list must not pass for a whole one */
	if (fflush(stdout) == EOF || ferror(stdout))
		return complain(WHY_IO, "stdout can't be written");
	return status;
}
