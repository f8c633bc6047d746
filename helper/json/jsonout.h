/*
 * Writes JSON (RFC 8259) without spaces, for root, which must not contain a parser of JSON. «key» is NULL for
 * an element of an array.
 */
#ifndef GPUHELPER_JSON_JSONOUT_H
#define GPUHELPER_JSON_JSONOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/text.h"

struct jsonout {
	struct buf buf;
	bool ascii;		/* characters beyond ASCII become \uXXXX */
	bool next;		/* a comma is due before the next value */
	bool garbled;		/* a text was not UTF-8: U+FFFD replaced the bad bytes */
};

/* Begin and end an object or array; «open» is "{" or "[", «close» the matching bracket. */
void jsonout_begin(struct jsonout *j, const char *key, const char *open);
void jsonout_end(struct jsonout *j, const char *close);

/* NULL is written as null. */
void jsonout_text(struct jsonout *j, const char *key, const char *text);
void jsonout_int(struct jsonout *j, const char *key, int64_t n);
void jsonout_bool(struct jsonout *j, const char *key, bool b);
/* Writes a value that is JSON already. */
void jsonout_json(struct jsonout *j, const char *key, const char *json);
/* An array of texts. */
void jsonout_list(struct jsonout *j, const char *key, const struct strlist *l);

/* The text, which the caller frees; j is then empty. NULL if memory is short or a text was not UTF-8. */
char *jsonout_take(struct jsonout *j);
void jsonout_free(struct jsonout *j);
#define autojsonout __attribute__((cleanup(jsonout_free)))

#endif
