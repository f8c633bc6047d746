/*
 * State as lines of fixed fields: «name word word …», each ended by a newline, the last one «end».
 *
 * Who has a value says its lines and words once, in one function.  That function writes the value, or reads it back, as
 * *s says.  So what is read is what is written: the lines and words come in one order, none is left out, and a word has
 * one spelling.
 *
 * A word is bytes without a NUL: those beyond «!» to «~», and «%», stand as %XX; the empty word is «-», the word «-»
 * is %2D.  A number is decimal.
 */
#ifndef GPUHELPER_PURE_LINES_H
#define GPUHELPER_PURE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"
#include "why.h"

struct lines {
	struct buf *out;	/* writing, to its end; NULL: reading */
	const char *at, *end;	/* what is left to be read */
	bool begun;
	bool failed;		/* what is there is not what would have been written */
	bool nomem;		/* or there was no memory for it; then «failed», too */
};

/* Begins the next line, which has this name. */
void lines_begin(struct lines *s, const char *name);
/* Of lines that there are any number of: writing, begins one where «more»; reading, where the next has this name. */
bool lines_more(struct lines *s, const char *name, bool more);
/* The last line.  True if nothing failed, and nothing is left. */
bool lines_finish(struct lines *s);

/*
 * The next word of the line.  Writing, what it points to is left alone.  Reading, it is set; after a failure to
 * something harmless, and *s has failed.
 */
void word_u32(struct lines *s, uint32_t *n);
void word_u64(struct lines *s, uint64_t *n);
/* Not negative. */
void word_i64(struct lines *s, int64_t *n);
/* «yes» or «no». */
void word_bool(struct lines *s, bool *b);
/* One of the n names, by its index. */
unsigned word_name(struct lines *s, const char *const *names, size_t n, unsigned index);
/* One of n values that count from 0. */
unsigned word_index(struct lines *s, unsigned index, unsigned n);
/* A text of less than size bytes. */
void word_text(struct lines *s, char *p, size_t size);
/* A copy, which the caller frees; NULL after a failure. */
void word_copy(struct lines *s, char **p);
/* Likewise, and NULL where it is empty. */
void word_copy_if_any(struct lines *s, char **p);
/* Likewise, where NULL is another text than the empty one. */
void word_copy_or_none(struct lines *s, char **p);
/* A reason (why.h), or that there is none. */
void why_words(struct lines *s, struct why *why);
/* A word where the line has one more (writing: where there is one). */
void words_list(struct lines *s, struct strlist *l);

/* There is no memory for what was read. */
void lines_starve(struct lines *s);

/*
 * One more member at the end of an array of *n of this size, set to zero, where the *n-th is read; writing, it is
 * there.  NULL, and *s has failed: no memory.
 */
void *lines_member(struct lines *s, void **array, size_t *n, size_t at, size_t size);

/*
 * Lines of this name, one for each member of an array of *n, of which «each» has the words.  Reading, more than max of
 * them are a failure.
 */
void lines_members(struct lines *s, const char *name, void **array, size_t *n, size_t max, size_t size,
    void (*each)(struct lines *s, void *member));

#endif
