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
	bool without_cgroup;	/* --cgroup-manager disabled (crun), --rootless true (runc): its device rules may hold nowhere */
	const char *bundle;	/* create, run, restore: --bundle; NULL: the current directory */
	bool detach;		/* run, restore: --detach */
	const char *id;		/* container id; NULL if none was given */
	int verb_at;		/* its place in argv, argc if there is none */
	int id_at;		/* likewise */
};

/*
 * Reads argv (borrowing from it).  Understands «--x V», «--x=V», «-x V»,
 * «-x=V» (Go's flag package), «-bV» and abbreviated long options (argp).  -1
 * where it can't be told which container or which bundle is meant.
 */
int argv_parse(int argc, char *const *argv, struct command *c, struct why *why);

/* The verbs that make a container out of a bundle. */
bool command_makes_container(const struct command *c);

/* Those of them after which the runtime ends and the container is there. */
bool command_leaves_container(const struct command *c);

/* A word of exec's options that matters to us. */
struct exec_word {
	enum exec_option { EXEC_PROCESS, EXEC_ENV, EXEC_CONSOLE, EXEC_CAP } option;
	int at;			/* the word that has the option */
	int value_at;		/* the word that has the value: the same, or the next */
	const char *value;	/* points into it */
};
#define EXEC_WORDS_MAX 512

/* update's --resources; «value» is NULL where there is none. */
struct resources_word {
	int at, value_at;	/* as above */
	const char *value;
};

/*
 * exec's --process, --env, --console-socket and --cap in the order that they come, up to the container's
 * id, which it finds as well.  Returns their number, or -1 with *why: also for a --cgroup that
 * leads out of the container's own.
 */
int argv_parse_exec(int argc, char *const *argv, struct command *c, struct exec_word *words, struct why *why);

/* Finds update's --resources.  -1 with *why where there are several: which one counts is the runtime's affair. */
int argv_parse_update(int argc, char *const *argv, const struct command *c, struct resources_word *word,
    struct why *why);

#endif
