/*
 * Every verb and option of runc and crun that the wrapper knows, in one table:
 * what it takes, what it decides, and what the wrapper does with it.  What is not
 * here is refused, or (an option of a verb that leaves containers as they are)
 * passed on unread.  tests/container/verbs.py holds the table to the sources of the
 * releases (tests/fixtures/runtimes) and to what installed runtimes say of themselves.
 */
#ifndef GPUHELPER_USER_VERBS_H
#define GPUHELPER_USER_VERBS_H

#include <stdbool.h>

#define VERBS_KNOWN "runc 1.1 to 1.5 and crun 1.8 to 1.29"

enum runtimes { RUNC = 1, CRUN = 2, BOTH = RUNC | CRUN };

enum takes {
	TAKES_NONE,		/* runc: or «=true», «=false» */
	TAKES_VALUE,		/* in the same word or the next */
	TAKES_OPTIONAL,		/* in the same word, or none */
};

/* What the wrapper does with an option: the part of argv.c, exec.c or update.c that it is for. */
enum role {
	ROLE_PASSED, ROLE_REFUSED, ROLE_HELP,
	/* read: what is to be made, or asked, depends on it */
	ROLE_ROOT, ROLE_LOG, ROLE_LOG_FORMAT, ROLE_SYSTEMD_CGROUP, ROLE_BUNDLE, ROLE_DETACH,
	/* judged: passed as it is, or refused by its value or by the settings */
	ROLE_CGROUP_MANAGER, ROLE_ROOTLESS, ROLE_NO_PIVOT, ROLE_EXEC_CGROUP, ROLE_CAP,
	/* changed: the runtime gets another value */
	ROLE_PROCESS, ROLE_ENV, ROLE_CONSOLE, ROLE_LABEL, ROLE_RESOURCES,
};

struct option {
	const char *name;	/* NULL: it has a letter only */
	char letter;		/* 0: none */
	enum takes takes;
	enum runtimes runtimes;
	enum role role;
	const char *decides;	/* what it decides; of a refused one: why */
};

enum kind {
	KIND_NONE,		/* no verb */
	KIND_PASSED,		/* changes nothing that a container may do: also options that are not known are passed */
	KIND_LIMITS,		/* update */
	KIND_EXEC,
	KIND_IMAGE,		/* checkpoint */
	KIND_MAKES,
	KIND_REFUSED,
};

/* How many words that are no options. */
struct operands {
	int least, most;
};

struct runtime_verb {
	const char *name;
	enum runtimes runtimes;
	enum kind kind;
	struct operands of_runc, of_crun;
	bool in_order;		/* runc: options end at the first operand, as they always do with crun */
	const struct option *options;	/* up to one with neither name nor letter */
	const char *decides;	/* as above */
};

/* The options before the verb, as above. */
extern const struct option verbs_globals[];

/* Up to one without a name. */
extern const struct runtime_verb verbs_all[];

/* True for the end of a table. */
bool option_is_last(const struct option *o);

/*
 * Writes the table as text: «VERB OPTION[,LETTER] TAKES RUNTIMES FATE: what it decides», «-» for no verb
 * or no option; FATE is passed, read, judged, changed or refused.  False: it can't be written.
 */
bool verbs_show(int fd);

#endif
