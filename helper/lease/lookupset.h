/*
 * The lookup paths of one lease, sorted, so that under the lock other lookup paths can be compared with them in less
 * than the product of both numbers. Whether one goes through another's folder is as lookup_passes() (lookup.h) says.
 */
#ifndef GPUHELPER_LEASE_LOOKUPSET_H
#define GPUHELPER_LEASE_LOOKUPSET_H

#include <stdbool.h>
#include <stddef.h>

#include "lookup.h"

/* Starts of paths or file system paths; the texts belong to the lookup paths. */
struct prefixes {
	struct prefix *v;
	size_t n, room;
};

struct lookupset {
	struct prefixes above, fs_paths_above;		/* what the lookup paths go through, by both kinds of path */
	struct prefixes writable, writable_fs_paths;	/* the writable folders */
	struct prefixes holding;			/* the file system paths that these are in */
};

/* Sorts the lookup paths, which must stay unchanged. False if memory is short. lookupset_free() in any case. */
bool lookupset_make(struct lookupset *s, const struct lookup *lookup, size_t lookups);
void lookupset_free(struct lookupset *s);
#define autolookupset __attribute__((cleanup(lookupset_free)))

/*
 * A lookup path of the set that goes through the folder «through» (lookup_passes(one, through)); NULL if there is none.
 */
const struct lookup *lookupset_through(const struct lookupset *s, const struct lookup *through);
/*
 * A writable folder of the set through which one of these lookup paths goes (lookup_passes(lookup, one)); *passing is
 * that lookup path. NULL if there is none.
 */
const struct lookup *lookupset_crossed(const struct lookupset *s, const struct lookup *lookup, size_t lookups,
    const struct lookup **passing);
/*
 * A writable folder of the set whose file system path is in the folder «other», or the other way round: whoever may
 * move a folder within another changes its file system path. NULL if there is none.
 */
const struct lookup *lookupset_nested(const struct lookupset *s, const struct lookup *other);

#endif
