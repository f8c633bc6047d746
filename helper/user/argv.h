/* The command line of runc and crun, as far as we have to understand it. */
#ifndef GPUHELPER_USER_ARGV_H
#define GPUHELPER_USER_ARGV_H

#include <stdbool.h>

#include "../pure/why.h"

struct command {
	const char *verb;	/* "create", …; NULL where there is none (--version, --help) */
	const char *root;	/* --root; NULL if not given */
	const char *log;	/* --log; NULL if not given */
	bool log_json;		/* --log-format json */
	bool systemd_cgroup;
	const char *bundle;	/* create, run, restore: --bundle; NULL: the current directory */
	bool detach;		/* run, restore: --detach */
	const char *id;		/* container id; NULL if none was given */
};

/*
 * Reads argv (borrowing from it).  Understands «--x V», «--x=V», «-x V»,
 * «-x=V» (Go's flag package), «-bV» and abbreviated long options (argp).  -1
 * where it can't be told which container or which bundle is meant.
 */
int argv_parse(int argc, char *const *argv, struct command *c, struct why *why);

/* The verbs that make a container out of a bundle. */
bool command_makes_container(const struct command *c);

#endif
