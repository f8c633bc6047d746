/*
 * For doc.h: lists that change in part, objects that may not be there yet, and
 * JSON texts of objects with members that may be left out.
 */
#ifndef GPUHELPER_PURE_DOCBUILD_H
#define GPUHELPER_PURE_DOCBUILD_H

#include "doc.h"

/* One element of a list: of the config (node), or new (json, and node DOC_NONE); key: what it is known by. */
struct item {
	uint32_t node;
	char *json, *key;
	bool gone;
	size_t rank;		/* for a sort */
};

struct items {
	struct item *v;
	size_t n, cap;
};

void items_free(struct items *l);
#define autoitems __attribute__((cleanup(items_free)))
/* Takes json and key, which may be NULL for want of memory.  False: no memory.  node: DOC_NONE if new. */
bool items_add(struct items *l, uint32_t node, char *json, char *key);
/*
 * What becomes of elements that have one key, as if the new ones had come one by
 * one.  ITEMS_REPLACE: the first there was went, and each put itself at the end;
 * ITEMS_SHIFT: the same, but it put itself in the place of the next there was,
 * and at the end only where there was none; ITEMS_IN_PLACE: each took the place of
 * the last there was; ITEMS_ONCE: one was left out where it was there.  False: no
 * memory.
 */
enum items_rule { ITEMS_REPLACE, ITEMS_SHIFT, ITEMS_IN_PLACE, ITEMS_ONCE };
bool items_settle(struct items *l, enum items_rule rule);
/* By rank; those of one rank stay in their order. */
bool items_sort(struct items *l);
/* The list as JSON, '[' or '{'; the caller frees.  NULL: no memory. */
char *items_text(const struct items *l, const struct doc *d, char open);

/* Members that come into an object of the config, or make up one that was not there. */
struct section {
	const struct doc *d;
	struct doc_edits *edits;
	uint32_t obj;
	const char *name;
	uint32_t parent;
	struct doc_list fresh;
	bool any;
};

/* «obj» is the member «name» of «parent»; DOC_NONE: not there. */
void section_begin(struct section *s, const struct doc *d, struct doc_edits *edits, uint32_t parent, const char *name,
    uint32_t obj);
/* Takes the text; NULL, for want of memory, makes the edits fail. */
void section_set(struct section *s, const char *key, char *text);
/* Ends it; an object that was not there, and now has members, goes into its parent, or into «into», new itself. */
void section_put(struct section *s, struct section *into);

/* Members, each after a comma, for object_text(); nothing where there is nothing to say. */
void put_strings(struct buf *b, const char *name, const struct strlist *l);
void put_string(struct buf *b, const char *name, const char *s);
/* The members as an object; the caller frees.  NULL: no memory. */
char *object_text(const struct buf *b);

#endif
