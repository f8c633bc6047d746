/* What a command line of runc or crun asks for, as far as we have to understand it. */
#ifndef GPUHELPER_USER_ARGV_H
#define GPUHELPER_USER_ARGV_H

#include "reading.h"

struct command {
	const char *verb;	/* "create", …; NULL where there is none (--version, --help) */
	enum kind kind;
	const char *root;	/* --root; NULL if not given */
	const char *log;	/* --log; NULL if not given */
	bool log_json;		/* --log-format json */
	bool systemd_cgroup;
	bool without_cgroup;	/* --cgroup-manager disabled (crun), --rootless true (runc): its device rules may hold nowhere */
	const char *bundle;	/* create, run, restore: --bundle; NULL: the current directory */
	bool detach;		/* run, restore: --detach */
	bool no_pivot;		/* create, run, restore: --no-pivot */
	bool from_image;	/* restore */
	const char *id;		/* container id; NULL if none was given: then the runtime makes nothing either */
	int verb_at;		/* its place in argv, argc if there is none */
	int id_at;		/* likewise */
	struct reading line;	/* all options, for exec.c and update.c */
};

/*
 * Reads argv (borrowing from it) by the table of verbs.h.  -1 with *why for what
 * is refused whatever the settings say, and where it can't be told what is meant; then
 * where messages go is known all the same, as far as it was read.
 */
int argv_parse(int argc, char *const *argv, struct command *c, struct why *why);

/* It makes a container out of a bundle. */
bool command_makes_container(const struct command *c);

/* And then the runtime ends and the container is there. */
bool command_leaves_container(const struct command *c);

/*
 * The next of its options after the verb with this role, from the word numbered *from on;
 * *from is then the number after it.  NULL: there is none.
 */
const struct word *command_next(const struct command *c, enum role role, int *from);

#endif
