/*
 * Reads settings of engines, in the part of TOML (toml.io, 1.0) that people and engines write: tables, keys, strings
 * and lists of strings.  What it finds is for messages to a person.  For decisions, gpuhelperctl asks the engine.
 */
#ifndef GPUHELPER_CTL_TOML_H
#define GPUHELPER_CTL_TOML_H

#include <stdbool.h>

#include "../pure/text.h"

struct toml {
	char *text, *rest;	/* a copy of the text, and its unread part */
	char *section;		/* the key's table, without quotes and spaces: plugins.io.containerd.internal.v1.opt; or "" */
	char *key;
	char *value;		/* as written; a list of several lines as one */
};

/* Begins to read a copy of the text.  If memory is short, there are no keys.  The caller calls toml_end(). */
void toml_begin(struct toml *t, const char *text);
/* Goes to the next key.  False at the end. */
bool toml_next(struct toml *t);
void toml_end(struct toml *t);

/* True if this is the current key. */
bool toml_is(const struct toml *t, const char *section, const char *key);
/* Adds each quoted string of the value to the list.  False: no memory. */
bool toml_strings(const struct toml *t, struct strlist *out);
/* The first quoted string of the value; NULL if there is none or memory is short.  The caller frees. */
char *toml_string(const struct toml *t);

#endif
