/*
 * The ways of one lease, sorted, so that under the lock other ways can be compared with them in less than the product
 * of both numbers. The answers are those of lookup_passes() and lookup_lies_in() (lookup.h) for any two ways.
 */
#ifndef GPUHELPER_LEASE_LOOKUPSET_H
#define GPUHELPER_LEASE_LOOKUPSET_H

#include <stdbool.h>
#include <stddef.h>

#include "lookup.h"

/* Starts of paths or places; the texts belong to the ways. */
struct prefixes {
	struct prefix *v;
	size_t n, room;
};

struct lookupset {
	/* what the ways go through; the writable folders; the places that these are in */
	struct prefixes above, fs_paths_above, writable, writable_fs_paths, holding;
};

/* Sorts the ways, which must stay unchanged. False if memory is short. lookupset_free() in any case. */
bool lookupset_make(struct lookupset *s, const struct lookup *lookup, size_t lookups);
void lookupset_free(struct lookupset *s);
#define autolookupset __attribute__((cleanup(lookupset_free)))

/*
 * A way of the set that goes through the folder «through» (lookup_passes(one, through)); NULL if there is none.
 */
const struct lookup *lookupset_through(const struct lookupset *s, const struct lookup *through);
/*
 * A writable folder of the set through which one of these ways goes (lookup_passes(way, one)); *passing is that
 * way. NULL if there is none.
 */
const struct lookup *lookupset_crossed(const struct lookupset *s, const struct lookup *lookup, size_t lookups,
    const struct lookup **passing);
/*
 * A writable folder of the set that is in «other», or the other way round (lookup_lies_in()). NULL if there is
 * none.
 */
const struct lookup *lookupset_nested(const struct lookupset *s, const struct lookup *other);

#endif
