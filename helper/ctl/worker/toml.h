/*
 * Reads settings of engines, as TOML 1.0 (toml.io).  A text that is not TOML, or has what this reader can't do, is
 * refused with its line: nothing is guessed.  The limits: 10,000 keys, 64 levels, and no \u0000.  Of numbers and dates
 * only the form is checked (1979-13-32 is a date), because nobody reads them.
 */
#ifndef GPUHELPER_CTL_WORKER_TOML_H
#define GPUHELPER_CTL_WORKER_TOML_H

#include "../../base/text.h"
#include "../../base/why.h"

enum toml_kind {
	TOML_IMPLIED,		/* a table that only a longer name mentions: [a.b] implies a */
	TOML_TABLE,
	TOML_DOTTED,		/* a table made by a dotted key: b.c = 1 */
	TOML_INLINE,		/* { b = 1 } */
	TOML_TABLES,		/* [[a]]: its children are tables without a name */
	TOML_STRING,
	TOML_LIST,
	TOML_OTHER,		/* a number, a date, true or false */
};

struct toml {
	char *name;			/* NULL for the whole text, and for an element of TOML_TABLES */
	enum toml_kind kind;
	struct strlist strings;		/* TOML_STRING: one; TOML_LIST: its elements that are strings */
	struct toml *child, *last, *next;	/* children in the order of the text */
};

/*
 * Reads a text of len bytes, which a NUL follows; «file» is its name, for messages. NULL with *why, «FILE:LINE: what is
 * wrong»: the text is not TOML, or memory is short. The caller calls toml_free().
 */
struct toml *toml_parse(const char *text, size_t len, const char *file, struct why *why);
void toml_free(struct toml *t);
static inline void
cleanup_toml(struct toml **t)
{
	toml_free(*t);
}
#define autotoml __attribute__((cleanup(cleanup_toml)))

/* What the names lead to: toml_find(t, "engine", "runtime").  NULL: nothing, or t is NULL. */
#define toml_find(t, ...) toml_at(t, (const char *const []){ __VA_ARGS__, NULL })
const struct toml *toml_at(const struct toml *t, const char *const *names);
/* A copy of the string that the names lead to.  NULL: there is none, or memory is short.  The caller frees. */
#define toml_string(t, ...) toml_copy(toml_find(t, __VA_ARGS__))
char *toml_copy(const struct toml *t);
/* The strings of a list, or the one string; NULL for anything else, and for NULL. */
const struct strlist *toml_strings(const struct toml *t);

#endif
