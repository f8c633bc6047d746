/*
 * The settings of engines, which are TOML (toml.io, 1.0), as far as people and the engines themselves write them:
 * tables, keys, strings, lists of strings.  It is for a person, who is told what it goes by: where it matters, the
 * engine is asked.
 */
#ifndef GPUHELPER_CTL_TOML_H
#define GPUHELPER_CTL_TOML_H

#include <stdbool.h>

#include "../pure/text.h"

struct toml {
	char *text, *rest;	/* a copy, and what of it is still to be read */
	char *section;		/* of the key, without quotes and spaces: plugins.io.containerd.internal.v1.opt; "": none */
	char *key;
	char *value;		/* as it is written; of a list over several lines, all of it */
};

/* Begins to read a copy of the text; without memory, it has no keys.  The caller calls toml_end(). */
void toml_begin(struct toml *t, const char *text);
/* The next key; false at the end. */
bool toml_next(struct toml *t);
void toml_end(struct toml *t);

/* True for this key of this section. */
bool toml_is(const struct toml *t, const char *section, const char *key);
/* Adds the strings between quotes in the value, of which a single string has one.  False: no memory. */
bool toml_strings(const struct toml *t, struct strlist *out);
/* The first of them; NULL: there is none, or no memory.  The caller frees. */
char *toml_string(const struct toml *t);

#endif
