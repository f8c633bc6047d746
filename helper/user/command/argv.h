/* Reads a command line of runc or crun, as far as the wrapper has to understand it. */
#ifndef GPUHELPER_USER_COMMAND_ARGV_H
#define GPUHELPER_USER_COMMAND_ARGV_H

#include "parseline.h"

struct command {
	const char *verb;	/* "create", …; NULL if there is none (--version, --help) */
	enum kind kind;
	const char *root;	/* --root, or NULL */
	const char *log;	/* --log, or NULL */
	bool log_json;		/* --log-format json */
	bool systemd_cgroup;
	bool without_cgroup;	/* --cgroup-manager disabled (crun), --rootless true (runc): device rules may not be enforced */
	const char *bundle;	/* create, run, restore: --bundle; NULL: the current directory */
	bool detach;		/* run, restore: --detach */
	bool no_pivot;		/* create, run, restore: --no-pivot */
	bool from_image;	/* restore */
	const char *id;		/* container id; NULL if none was given, and then the runtime fails */
	int verb_at;		/* index of the verb in argv; argc if there is none */
	int id_at;		/* index of the container id, likewise */
	struct parsed_line line;	/* all options, for exec.c and update.c */
};

/*
 * Reads argv by the table of verbs.h. *c keeps pointers into argv. Returns 0, or -1 with *why for a command
 * line that is refused whatever the settings say, or that is ambiguous. The options for messages (--log,
 * --log-format) are then set all the same, as far as argv was read.
 */
int argv_parse(int argc, char *const *argv, struct command *c, struct why *why);

/* True if the command makes a container from a bundle. */
bool command_makes_container(const struct command *c);

/* True if the command makes a container and ends while the container stays. */
bool command_detaches(const struct command *c);

/*
 * Finds the next option after the verb that has this role, from index *from of the words on, and sets *from
 * to the index after it. NULL if there is none.
 */
const struct word *command_next(const struct command *c, enum role role, int *from);

#endif
