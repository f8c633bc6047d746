/*
 * The text of a CDI spec, JSON or YAML, as one kind of tree that still knows
 * where each value stands.  Whoever reads the tree need not know which it was.
 *
 * JSON (RFC 8259) is doc.h's.  YAML is what libyaml reads, and of that only what
 * every YAML reader reads alike: one document, no anchors, aliases, tags,
 * directives or merge keys; a plain (unquoted) scalar that YAML 1.1 and 1.2, or
 * two readers of 1.1, take for different things (no, on, 0660, 0o660, 1_000,
 * 1:30, 2026-01-02) is CDIT_UNCLEAR and good for nothing.
 */
#ifndef GPUHELPER_PURE_CDITREE_H
#define GPUHELPER_PURE_CDITREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdifault.h"

#define CDI_TEXT_MAX (1024 * 1024)
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

enum cdi_format { CDI_JSON, CDI_YAML };

/* False with at least one fault (or f->starved); cdit_free() in either case. */
bool cdit_parse(struct cdit *t, enum cdi_format format, const char *text, size_t len, struct cdi_faults *f);
void cdit_free(struct cdit *t);
#define autocdit __attribute__((cleanup(cdit_free)))

/* The value of a key of an object; CDIT_NONE if there is none. */
uint32_t cdit_get(const struct cdit *t, uint32_t object, const char *key);

/* What a plain scalar of YAML is, in text. */
enum cdit_kind cdit_plain(const char *text);

/* For the two readers, cditree.c and cdiyaml.c: */
bool cdit_yaml(struct cdit *t, const char *text, size_t len, struct cdi_faults *f);
/* A new node, unlinked; CDIT_NONE: too many, or no memory (with the fault). */
uint32_t cdit_new(struct cdit *t, enum cdit_kind kind, uint32_t line, uint32_t column, struct cdi_faults *f);

#endif
