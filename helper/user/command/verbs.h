/*
 * One table of the verbs and options of runc and crun that the wrapper knows: what each takes, what it
 * decides, and what the wrapper does with it. Anything else is refused, except for unknown options of verbs
 * that do not change a container: those are passed on. tests/container/verbs.py compares the table with the
 * sources of the releases (tests/fixtures/runtimes) and with what installed runtimes print.
 */
#ifndef GPUHELPER_USER_COMMAND_VERBS_H
#define GPUHELPER_USER_COMMAND_VERBS_H

#include <stdbool.h>

#define VERBS_KNOWN "runc 1.1 to 1.5 and crun 1.8 to 1.29"

enum runtimes { RUNC = 1, CRUN = 2, BOTH = RUNC | CRUN };

enum takes {
	TAKES_NONE,		/* runc also takes «=true» and «=false» */
	TAKES_VALUE,		/* in the same word or in the next */
	TAKES_OPTIONAL,		/* in the same word, or no value */
};

/* What the wrapper does with an option. argv.c, exec.c or update.c does it. */
enum role {
	ROLE_PASSED, ROLE_REFUSED, ROLE_HELP,
	/* read: the container, or the request to the helper, depends on it */
	ROLE_ROOT, ROLE_LOG, ROLE_LOG_FORMAT, ROLE_SYSTEMD_CGROUP, ROLE_BUNDLE, ROLE_DETACH, ROLE_PID_FILE, ROLE_CONSOLE,
	/* judged: passed as it is, or refused by its value or by the settings */
	ROLE_CGROUP_MANAGER, ROLE_ROOTLESS, ROLE_NO_PIVOT, ROLE_EXEC_CGROUP, ROLE_CAP,
	/* changed: the runtime gets another value */
	ROLE_PROCESS, ROLE_ENV, ROLE_FDS, ROLE_LABEL, ROLE_RESOURCES,
};

struct option {
	const char *name;	/* NULL if it has a letter only */
	char letter;		/* 0 if it has no letter */
	enum takes takes;
	enum runtimes runtimes;
	enum role role;
	const char *decides;	/* what it decides; for a refused option, why */
};

enum kind {
	KIND_NONE,		/* no verb */
	KIND_PASSED,		/* does not change what a container may do: unknown options are passed, too */
	KIND_LIMITS,		/* update */
	KIND_EXEC,
	KIND_IMAGE,		/* checkpoint */
	KIND_MAKES,
	KIND_REFUSED,
};

/* How many operands a verb takes. */
struct operands {
	int least, most;
};

struct runtime_verb {
	const char *name;
	enum runtimes runtimes;
	enum kind kind;
	struct operands of_runc, of_crun;
	bool in_order;		/* runc: options end at the first operand (as they always do for crun) */
	const struct option *options;	/* ends with one that has neither name nor letter */
	const char *decides;	/* as above */
};

/* The options before the verb. The last one has neither name nor letter. */
extern const struct option verbs_globals[];

/* All verbs. The last one has no name. */
extern const struct runtime_verb verbs_all[];

/* True for the last option of a table. */
bool option_is_last(const struct option *o);

/*
 * Writes the table as text, one line each: «VERB OPTION[,LETTER] TAKES RUNTIMES FATE: what it decides». «-» means
 * no verb or no option; FATE is passed, read, judged, changed or refused. Returns false if it can't be written.
 */
bool verbs_show(int fd);

#endif
