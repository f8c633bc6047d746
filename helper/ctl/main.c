/*
 * gpuhelperctl: the administrator's tool.  Must never have more rights than its caller: it reads and writes files that
 * the caller names.
 *
 * Each subcommand has a file of its own; commands.c lists them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "../user/command/namespace.h"
#include "cmdline.h"

int
main(int argc, char **argv)
{
	struct options o = { .config_dir = GPUHELPER_CONFDIR };
	const size_t most = (size_t)argc + 1;
	const char **lists;
	char **words;
	int status;

	if (getauxval(AT_SECURE) != 0)
		return complain(WHY_DENIED, "must not be setuid or setgid, nor have file capabilities: chmod 0755 gpuhelperctl "
		    "and setcap -r it");
	namespace_begin();
	words = calloc(most, sizeof(*words));
	lists = calloc(3 * most, sizeof(*lists));
	if (words != NULL && lists != NULL) {
		o.arg = words;
		o.device = lists;
		o.instance_var = lists + most;
		o.library_path = lists + 2 * most;
		status = cmdline_run(argc, argv, &o);
	} else
		status = complain(WHY_BUG, "out of memory");
	free(words);
	free(lists);
	/* a program must not take truncated output for complete */
	if (fflush(stdout) == EOF || ferror(stdout))
		return complain(WHY_IO, "can't write to stdout");
	return status;
}
