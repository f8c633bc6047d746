/*
 * A JSON document (RFC 8259), kept as the bytes it came in.
 * A config.json must stay as it came, except for our changes: numbers above 2^63, reals, the order of keys,
 * every byte. So it is never turned into values and back. It is scanned once into nodes that say where things
 * are, and changes replace ranges of bytes.
 * Strict: one document, well-formed UTF-8, no duplicate keys (compared after unescaping), no BOM, no
 * comments, at most DOC_DEPTH deep.
 */
#ifndef GPUHELPER_JSON_DOC_H
#define GPUHELPER_JSON_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/text.h"
#include "../base/why.h"

#define DOC_DEPTH 64
#define DOC_NODES 400000
#define DOC_NONE UINT32_MAX

enum doc_kind { DOC_OBJECT, DOC_ARRAY, DOC_STRING, DOC_NUMBER, DOC_TRUE, DOC_FALSE, DOC_NULL };

struct doc_node {
	uint32_t start, end;	/* text[start, end) */
	uint32_t child;		/* object: first key; array: first element; key: its value */
	uint32_t next;		/* next key of the object, next element of the array */
	uint32_t count;		/* members or elements */
	enum doc_kind kind;
};

struct doc {
	const char *text;	/* borrowed */
	size_t len;
	struct doc_node *node;	/* node[0] is the document */
	uint32_t nodes, cap;
	size_t refused_at;	/* where doc_parse() stopped */
};

/* Scans len bytes, which must outlive d. 0, or -1 with *why, which has line and column of the fault. */
int doc_parse(struct doc *d, const char *text, size_t len, struct why *why);
void doc_free(struct doc *d);
#define autodoc __attribute__((cleanup(doc_free)))

/* The value of a member; DOC_NONE if obj is DOC_NONE, no object, or has no such key. */
uint32_t doc_get(const struct doc *d, uint32_t obj, const char *key);
/* True if n exists and is of this kind. */
bool doc_is(const struct doc *d, uint32_t n, enum doc_kind kind);
/* The first element of an array, or first key of an object; DOC_NONE if there is none. */
uint32_t doc_first(const struct doc *d, uint32_t n);
uint32_t doc_next(const struct doc *d, uint32_t n);
/* The value that belongs to a key node. */
uint32_t doc_value(const struct doc *d, uint32_t key);

/*
 * The unescaped text of a string, which the caller frees. NULL if n is no string or contains a NUL, or memory
 * is short.
 */
char *doc_string(const struct doc *d, uint32_t n);
/* True if n is a string that unescapes to s. */
bool doc_equals(const struct doc *d, uint32_t n, const char *s);
/* True if n is a string that, unescaped, contains this text (of whole characters). */
bool doc_contains(const struct doc *d, uint32_t n, const char *part);
/* Gets an integer that is written as one (no '.', no exponent) and fits. False for any other value. */
bool doc_i64(const struct doc *d, uint32_t n, int64_t *out);

/* Changes to a document: byte ranges and what goes in their place. */
struct doc_edit {
	size_t start, end;
	char *text;
};
struct doc_edits {
	struct doc_edit *v;
	size_t n;
	bool failed;
};

/* Replaces the value n by «text», which is JSON and is copied. */
void doc_replace(struct doc_edits *e, const struct doc *d, uint32_t n, const char *text);
/* Sets the member «key» of obj to «text», and appends the member if obj lacks it. */
void doc_set(struct doc_edits *e, const struct doc *d, uint32_t obj, const char *key, const char *text);
/* Makes the edits, which must not overlap. The caller frees the text; NULL if memory is short. */
char *doc_apply(const struct doc *d, struct doc_edits *e, size_t *len);
void doc_edits_free(struct doc_edits *e);
#define autoedits __attribute__((cleanup(doc_edits_free)))

/* Builds a new array or object in which kept elements stay byte for byte. */
struct doc_list {
	struct buf buf;
	size_t n;
	char close;
};
void doc_list_begin(struct doc_list *l, char open);		/* '[' or '{' */
void doc_list_keep(struct doc_list *l, const struct doc *d, uint32_t n);	/* an element, or a key with its value */
void doc_list_add(struct doc_list *l, const char *json);	/* an element, or «"key":value» */
void doc_list_add_string(struct doc_list *l, const char *s);	/* an element that is this string */
char *doc_list_end(struct doc_list *l);				/* the caller frees; NULL: no memory */

#endif
