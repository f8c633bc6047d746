/*
 * A tree of the text of a CDI spec, JSON or YAML, with the place of each value. cdijson.h and cdiyaml.h make
 * one. A reader of the tree need not know which of the two the text was.
 */
#ifndef GPUHELPER_READ_CDI_CDITREE_H
#define GPUHELPER_READ_CDI_CDITREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../cdi/cdifault.h"

#define CDIT_DEPTH 16
#define CDIT_NODES 100000
#define CDIT_NONE UINT32_MAX

enum cdit_kind { CDIT_OBJECT, CDIT_ARRAY, CDIT_STRING, CDIT_NUMBER, CDIT_BOOL, CDIT_NULL, CDIT_UNCLEAR };

struct cdit_node {
	enum cdit_kind kind;
	uint32_t line, column;	/* from 1; columns are characters */
	uint32_t child;		/* as in doc.h: an object's first key, a list's first element, a key's value */
	uint32_t next;		/* the next key or element */
	uint32_t count;
	bool same_text;		/* a string, too, for whoever expects one: a YAML scalar (cdit_same_text()) */
	char *text;		/* of a scalar or a key; numbers as written */
};

struct cdit {
	struct cdit_node *node;	/* node[0] is the document */
	uint32_t nodes, cap;
};

void cdit_free(struct cdit *t);
#define autocdit __attribute__((cleanup(cdit_free)))

/* The value of an object's key; CDIT_NONE if there is none. */
uint32_t cdit_get(const struct cdit *t, uint32_t object, const char *key);

/* The kind of a plain YAML scalar with this text. */
enum cdit_kind cdit_plain(const char *text);
/*
 * True if CDI's reference library (by sigs.k8s.io/yaml 1.4) takes a plain YAML scalar with this text, which is not of
 * the kind CDIT_STRING, as the same text where it expects a string: 0, true, 1.5, 0:1, 2026-01-02. It takes others as
 * another text: 010 as "8", yes as "true", 1.0 as "1", null as "".
 */
bool cdit_same_text(const char *text);

/*
 * A new node, not linked to another yet. CDIT_NONE, with the fault, if there are too many or memory is short.
 */
uint32_t cdit_new(struct cdit *t, enum cdit_kind kind, uint32_t line, uint32_t column, struct cdi_faults *f);

#endif
