/*
 * For doc.h: lists that change in part, objects that may not exist yet, and texts of JSON objects with
 * optional members.
 */
#ifndef GPUHELPER_JSON_DOCBUILD_H
#define GPUHELPER_JSON_DOCBUILD_H

#include "doc.h"

/*
 * An element of a list: an old one (node) or a new one (json, with node DOC_NONE). Elements are told apart by
 * «key».
 */
struct item {
	uint32_t node;
	char *json, *key;
	bool gone;
	size_t rank;		/* for items_sort() */
};

struct items {
	struct item *v;
	size_t n, cap;
};

void items_free(struct items *l);
#define autoitems __attribute__((cleanup(items_free)))
/*
 * Adds an element. Takes over json and key; either may be NULL from a failed allocation. False if memory is
 * short.
 */
bool items_add(struct items *l, uint32_t node, char *json, char *key);
/*
 * Merges elements that have the same key, as if the new ones came one by one. False if memory is short.
 * ITEMS_REPLACE: a new one removes the first of its key, and is appended.
 * ITEMS_SHIFT: a new one removes the first of its key and takes the place of the next; it is appended if there is no
 * next one.
 * ITEMS_IN_PLACE: a new one takes the place of the last of its key.
 * ITEMS_ONCE: a new one is dropped if its key exists.
 */
enum items_rule { ITEMS_REPLACE, ITEMS_SHIFT, ITEMS_IN_PLACE, ITEMS_ONCE };
bool items_finish(struct items *l, enum items_rule rule);
/* Sorts by rank, stably. False if memory is short. */
bool items_sort(struct items *l);
/* The list as JSON; «open» is '[' or '{'. The caller frees it; NULL if memory is short. */
char *items_text(const struct items *l, const struct doc *d, char open);

/* Members to add to an object of the config, or to an object that does not exist yet. */
struct section {
	const struct doc *d;
	struct doc_edits *edits;
	uint32_t obj;
	const char *name;
	uint32_t parent;
	struct doc_list fresh;
	bool any;
};

/* Begins a section: «obj» is the member «name» of «parent», DOC_NONE if it does not exist. */
void section_begin(struct section *s, const struct doc *d, struct doc_edits *edits, uint32_t parent, const char *name,
    uint32_t obj);
/* Sets a member. Takes over the text; NULL, from a failed allocation, makes the edits fail. */
void section_set(struct section *s, const char *key, char *text);
/*
 * Ends the section. A new object that got members is added to its parent, or to «into», which may itself be
 * new.
 */
void section_put(struct section *s, struct section *into);

/* Append members, each after a comma, for object_text(). An empty list or NULL adds nothing. */
void put_strings(struct buf *b, const char *name, const struct strlist *l);
void put_string(struct buf *b, const char *name, const char *s);
/* The members as a JSON object. The caller frees it; NULL if memory is short. */
char *object_text(const struct buf *b);

#endif
