/*
 * The text of a CDI spec, JSON or YAML, as one kind of tree that still knows
 * where each value stands.  Whoever reads the tree need not know which it was.
 * cdijson.h and cdiyaml.h make one.
 */
#ifndef GPUHELPER_READ_CDITREE_H
#define GPUHELPER_READ_CDITREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../pure/cdifault.h"

#define CDIT_DEPTH 16
#define CDIT_NODES 100000
#define CDIT_NONE UINT32_MAX

enum cdit_kind { CDIT_OBJECT, CDIT_ARRAY, CDIT_STRING, CDIT_NUMBER, CDIT_BOOL, CDIT_NULL, CDIT_UNCLEAR };

struct cdit_node {
	enum cdit_kind kind;
	uint32_t line, column;	/* from 1; columns are characters */
	uint32_t child, next;	/* as doc.h's: object: first key; key: its value; next key or element */
	uint32_t count;
	char *text;		/* of a scalar or a key; a number as it is written */
};

struct cdit {
	struct cdit_node *node;	/* node[0] is the document */
	uint32_t nodes, cap;
};

void cdit_free(struct cdit *t);
#define autocdit __attribute__((cleanup(cdit_free)))

/* The value of a key of an object; CDIT_NONE if there is none. */
uint32_t cdit_get(const struct cdit *t, uint32_t object, const char *key);

/* What a plain scalar of YAML is, in text. */
enum cdit_kind cdit_plain(const char *text);

/* A new node, unlinked; CDIT_NONE: too many, or no memory (with the fault). */
uint32_t cdit_new(struct cdit *t, enum cdit_kind kind, uint32_t line, uint32_t column, struct cdi_faults *f);

#endif
