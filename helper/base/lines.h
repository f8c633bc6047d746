/*
 * State as lines of fixed fields: «name field field ...», each with a newline, the last one «end».
 *
 * One function per type lists its lines and fields, and either writes the value or reads it, as *s says. So
 * reader and writer agree: lines and fields have one order, none is left out, and a field has one spelling.
 *
 * A field is bytes without a NUL. Bytes outside «!» to «~», and «%», are written as %XX; the empty field is
 * «-», and the field «-» is %2D. Numbers are decimal.
 */
#ifndef GPUHELPER_BASE_LINES_H
#define GPUHELPER_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"
#include "why.h"

struct lines {
	struct buf *out;	/* writing: appended to; NULL: reading */
	const char *at, *end;	/* reading: what is left */
	bool begun;
	bool failed;		/* the text differs from what would have been written */
	bool nomem;		/* memory was short; then «failed» as well */
};

/* Begins the next line, which has this name. */
void lines_begin(struct lines *s, const char *name);
/* For lines that may repeat. Writing: begins one if «more». Reading: true if the next line has this name. */
bool lines_more(struct lines *s, const char *name, bool more);
/* Writes or reads the last line. True if nothing failed and nothing is left. */
bool lines_finish(struct lines *s);

/*
 * The next field of the line. Writing leaves *n alone. Reading sets it; after a failure, to something
 * harmless, and *s has failed.
 */
void field_u32(struct lines *s, uint32_t *n);
void field_u64(struct lines *s, uint64_t *n);
/* Not negative. */
void field_i64(struct lines *s, int64_t *n);
/* «yes» or «no». */
void field_bool(struct lines *s, bool *b);
/* The writer's version. Reading, fails if another version wrote it; then the result is false. */
bool field_version(struct lines *s);
/* One of n names, by index. */
unsigned field_name(struct lines *s, const char *const *names, size_t n, unsigned index);
/* An index below n. */
unsigned field_index(struct lines *s, unsigned index, unsigned n);
/* A text shorter than «size» bytes. */
void field_text(struct lines *s, char *p, size_t size);
/* Reading: a copy, which the caller frees; NULL after a failure. */
void field_copy(struct lines *s, char **p);
/* The same, but NULL for an empty text. */
void field_copy_if_any(struct lines *s, char **p);
/* The same, but NULL is told apart from the empty text. */
void field_copy_or_none(struct lines *s, char **p);
/* A reason (why.h), or that there is none. */
void why_fields(struct lines *s, struct why *why);
/* Another field, if the line has one (writing: if the list has one). */
void fields_list(struct lines *s, struct strlist *l);

/* Lines of this name, one for each text of the list. */
void lines_texts(struct lines *s, const char *name, struct strlist *l);
/* Lines of this name, one for each text of «first» and the text at the same index of «second». */
void lines_pairs(struct lines *s, const char *name, struct strlist *first, struct strlist *second);

/* Notes that memory is short. */
void lines_starve(struct lines *s);

/*
 * Lines of this name, one for each member of an array of *n; «each» has the fields of one. Reading, more than
 * «max» lines are a failure.
 */
void lines_members(struct lines *s, const char *name, void **array, size_t *n, size_t max, size_t size,
    void (*each)(struct lines *s, void *member));

#endif
