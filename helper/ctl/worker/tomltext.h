/* The parts of the TOML reader (toml.h): the text that is left, its strings and its plain values. */
#ifndef GPUHELPER_CTL_WORKER_TOMLTEXT_H
#define GPUHELPER_CTL_WORKER_TOMLTEXT_H

#include "../../base/text.h"
#include "../../base/why.h"

struct toml_text {
	const char *at;		/* the rest of the text */
	const char *file;
	unsigned line;
	unsigned keys;		/* read so far */
	struct why *why;
};

/* Refuses the text, with file and line.  Returns -1. */
int toml_refuse(const struct toml_text *x, const char *what);

/* Skips spaces and tabs. */
void toml_skip_spaces(struct toml_text *x);
/* Skips a comment, if there is one, then the end of the line.  -1 with *why: something else stands there. */
int toml_end_line(struct toml_text *x);
/* Skips spaces, comments and ends of lines, as between the elements of a list.  -1 with *why. */
int toml_skip_lines(struct toml_text *x);

/* Reads a string of one line, or if «lines» one of any of the four kinds.  -1 with *why. */
int toml_read_string(struct toml_text *x, bool lines, struct buf *out);
/*
 * Skips a number, a date, true or false.  Checks the form alone, and no range, because nobody reads such a value here.
 * -1 with *why: it is none of these.
 */
int toml_read_plain(struct toml_text *x);

#endif
