/*
 * gpuhelperctl: its subcommands, the options that each takes, and what these are
 * for.  The one place that knows: the command line is read by it (cmdline.c), and
 * help is made of it (help.c).
 */
#ifndef GPUHELPER_CTL_COMMANDS_H
#define GPUHELPER_CTL_COMMANDS_H

#include "ctl.h"

enum opt {
	OPT_CONFIG_DIR, OPT_JSON, OPT_VERBOSE, OPT_STRICT, OPT_DRY_RUN, OPT_BUNDLE, OPT_USER, OPT_PIPELINE, OPT_JOB,
	OPT_IDENTITY, OPT_ISSUER, OPT_GPUS, OPT_FOLDERS, OPT_INSTANCE_VARS, OPT_TOKEN_FILE, OPT_AT, OPT_OUTPUT_DIR,
	OPT_CACERT, OPT_FROM, OPT_SPEC_DIRS, OPT_DEVICE, OPT_HOST, OPT_VENDOR, OPT_OUTPUT, OPT_ROOT, OPT_ROCM_LIBS, OPT_MPS,
	OPT_WORKER_DIR, OPT_UNDO, OPT_TAGS, OPT_SINCE, OPT_UNTIL, OPT_DENIED, OPT_DEVICES, OPT_HEAD,
	OPT_WATCH, OPT_WHY, OPT_MARK, OPT_TO, OPT_STATE, OPT_ALL, OPT_YES, OPT_AGAINST, OPT_INSTANCE_VAR, OPT_IMAGE,
	OPT_ROOTLESS,
	OPTS
};

/* How an option is written, and where it goes in struct options. */
struct option_kind {
	const char *name;
	char letter;		/* 0: none */
	const char *value;	/* what stands for it in help; NULL: it has none */
	size_t place;
};
extern const struct option_kind option_kinds[OPTS];

/* An option of a subcommand; «help» is NULL at the end of a list. */
struct takes {
	enum opt option;
	bool must;
	const char *help;
};

struct command {
	const char *name;	/* one word, or two */
	const char *words;	/* those after it, as help shows them */
	size_t least, most;	/* how many of them */
	const char *summary;
	const struct takes *takes;
	int (*run)(const struct options *);
};
extern const struct command commands[];
extern const size_t commands_n;

/* The option of the command; NULL: it does not take that. */
const struct takes *command_takes(const struct command *c, enum opt option);
/* True if the word is the first of several commands that have two. */
bool command_is_group(const char *word);
/* True if the command is this one, or one of this group. */
bool command_is_of(const struct command *c, const char *group);

/*
 * The command that the first of the words name; *used says how many that were.  NULL
 * with *why where they name none.
 */
const struct command *command_find(char *const *word, size_t words, size_t *used, struct why *why);

/* What the words (none: everything) are for, on stdout; returns the exit status. */
int help_print(const struct options *o);

#endif
