/*
 * A command line, read as runc and as crun read theirs: they do not read the same
 * words alike («-b=/b» is /b to runc, and =/b to crun), and which of the two is
 * below is not known here.
 */
#ifndef GPUHELPER_USER_READING_H
#define GPUHELPER_USER_READING_H

#include "../pure/why.h"
#include "verbs.h"

#define READING_WORDS_MAX 512

struct word {
	const struct option *option;
	int at;			/* the word that has the option */
	int value_at;		/* the word that has the value: the same, or the next */
	const char *value;	/* points into it; NULL: none */
};

struct reading {
	const struct runtime_verb *verb;	/* NULL: none was given */
	int verb_at;			/* its place in argv, argc if there is none */
	int id_at;			/* of the first operand, argc if there is none */
	int globals;			/* how many of the words are options before the verb */
	int words;
	struct word word[READING_WORDS_MAX];	/* in the order that they come */
};

/*
 * Reads argv, borrowing from it.  Fills *r where one of the runtimes would take
 * the line, and all that would read it so alike.  Otherwise -1 with *why, and *r has the
 * options before the verb, as far as they were read; for a verb of KIND_PASSED 0, with
 * no operand and no option after it: the runtime says itself what is wrong.
 */
int reading_make(int argc, char *const *argv, struct reading *r, struct why *why);

#endif
