/*
 * Writes JSON (RFC 8259) without spaces, for root: nothing that reads JSON comes with it.  A member of an object has a
 * key, one of an array has NULL.
 */
#ifndef GPUHELPER_PURE_JSONOUT_H
#define GPUHELPER_PURE_JSONOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

struct jsonout {
	struct buf buf;
	bool ascii;		/* what is beyond ASCII stands as \uXXXX */
	bool next;		/* a comma belongs before what follows */
	bool garbled;		/* a text was not UTF-8: U+FFFD stands for what was not */
};

/* «open» is "{" or "[", «close» what ends that. */
void jsonout_begin(struct jsonout *j, const char *key, const char *open);
void jsonout_end(struct jsonout *j, const char *close);

/* NULL is written as null. */
void jsonout_text(struct jsonout *j, const char *key, const char *text);
void jsonout_int(struct jsonout *j, const char *key, int64_t n);
void jsonout_bool(struct jsonout *j, const char *key, bool b);
/* A member that is JSON already. */
void jsonout_json(struct jsonout *j, const char *key, const char *json);
/* An array of texts. */
void jsonout_list(struct jsonout *j, const char *key, const struct strlist *l);

/* The text, which the caller frees, and j is empty; NULL: no memory, or a text was not UTF-8. */
char *jsonout_take(struct jsonout *j);
void jsonout_free(struct jsonout *j);
#define autojsonout __attribute__((cleanup(jsonout_free)))

#endif
