/*
 * Reads a command line the way runc and crun do. The two differ («-b=/b» is /b to runc, and =/b to crun), and
 * this program can't know which of them it will start.
 */
#ifndef GPUHELPER_USER_COMMAND_PARSELINE_H
#define GPUHELPER_USER_COMMAND_PARSELINE_H

#include "../../base/why.h"
#include "verbs.h"

#define PARSED_WORDS_MAX 512

struct word {
	const struct option *option;
	int at;			/* index of the word with the option */
	int value_at;		/* index of the word with the value: the same or the next */
	const char *value;	/* points into that word; NULL if there is none */
};

struct parsed_line {
	const struct runtime_verb *verb;	/* NULL if none was given */
	int verb_at;			/* index of the verb in argv; argc if there is none */
	int id_at;			/* index of the first operand; argc if there is none */
	int globals;			/* how many of the words are options before the verb */
	int words;
	struct word word[PARSED_WORDS_MAX];	/* in their order in argv */
};

/*
 * Reads argv. *r keeps pointers into argv. Returns 0 if at least one of the runtimes would accept the line,
 * and all that would accept it read it alike. Otherwise returns -1 with *why, and *r has the options before
 * the verb, as far as they were read. For a verb of KIND_PASSED, returns 0 without operand and options
 * instead: the runtime itself says what is wrong.
 */
int parse_line(int argc, char *const *argv, struct parsed_line *r, struct why *why);

#endif
