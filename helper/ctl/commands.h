/*
 * The table of gpuhelperctl's subcommands, their options and the help texts.  The parser (cmdline.c), the help (help.c)
 * and shell completion (complete.c) all use it.
 */
#ifndef GPUHELPER_CTL_COMMANDS_H
#define GPUHELPER_CTL_COMMANDS_H

#include "ctl.h"

enum opt {
	OPT_CONFIG_DIR, OPT_JSON, OPT_VERBOSE, OPT_STRICT, OPT_DRY_RUN, OPT_BUNDLE, OPT_USER, OPT_PIPELINE, OPT_JOB,
	OPT_IDENTITY, OPT_ISSUER, OPT_GPUS, OPT_FOLDERS, OPT_INSTANCE_VARS, OPT_CLAIMS, OPT_TOKEN_FILE, OPT_AT, OPT_OUTPUT_DIR,
	OPT_CACERT, OPT_FROM, OPT_SPEC_DIRS, OPT_DEVICE, OPT_HOST, OPT_VENDOR, OPT_OUTPUT, OPT_ROOT, OPT_ROCM_LIBS, OPT_MPS,
	OPT_WORKER_DIR, OPT_UNDO, OPT_TAGS, OPT_SINCE, OPT_UNTIL, OPT_DENIED, OPT_DEVICES, OPT_HEAD, OPT_PARTIAL,
	OPT_WATCH, OPT_WHY, OPT_MARK, OPT_TO, OPT_STATE, OPT_ALL, OPT_YES, OPT_AGAINST, OPT_INSTANCE_VAR, OPT_IMAGE,
	OPT_ROOTLESS, OPT_DRIVER_ROOT, OPT_LIBRARY_PATH,
	OPTS
};

/* How an option is written, and which member of struct options holds its value. */
struct option_kind {
	const char *name;
	char letter;		/* 0: none */
	const char *value;	/* the value's name in help; NULL: the option takes no value */
	size_t offset;		/* offset of the member */
};
extern const struct option_kind option_kinds[OPTS];

/* An option that a subcommand takes.  A list of them ends where «help» is NULL. */
struct takes {
	enum opt option;
	bool must;
	const char *help;
};

struct command {
	const char *name;	/* one word, or two */
	const char *words;	/* its arguments, as help shows them */
	size_t least, most;	/* how many arguments it takes */
	const char *summary;
	const struct takes *takes;
	int (*run)(const struct options *);
};
extern const struct command commands[];
extern const size_t commands_n;

/* The command's entry for this option; NULL if the command does not take it. */
const struct takes *command_takes(const struct command *c, enum opt option);
/* True if the word is a group: the first word of commands that have two. */
bool command_is_group(const char *word);
/* True if the command has this name, or is in the group of this name. */
bool command_is_of(const struct command *c, const char *group);

/*
 * Finds the command that the first words name; *used is how many words its name has.  NULL with *why if there is no
 * such command.
 */
const struct command *command_find(char *const *word, size_t words, size_t *used, struct why *why);

/* Prints the help of the command in o->arg, or all commands; returns the exit status. */
int help_print(const struct options *o);

#endif
