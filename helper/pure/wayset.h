/*
 * The ways of one lease, sorted, so that those of others are held against them
 * under the lock in a time that does not grow with the product of both.  The
 * answers are way.h's: way_passes() and way_lies_in(), of any two.
 */
#ifndef GPUHELPER_PURE_WAYSET_H
#define GPUHELPER_PURE_WAYSET_H

#include <stdbool.h>
#include <stddef.h>

#include "way.h"

/* Beginnings of paths or places, which belong to the ways. */
struct way_marks {
	struct way_mark *v;
	size_t n, room;
};

struct wayset {
	struct way_marks above, places_above;		/* what each way leads through */
	struct way_marks writable, writable_places;	/* the folders that are writable */
	struct way_marks holding;			/* the places that those lie in */
};

/* Sorts the ways, which have to stay as they are.  False: no memory.  wayset_free() in either case. */
bool wayset_make(struct wayset *s, const struct way *way, size_t ways);
void wayset_free(struct wayset *s);
#define autowayset __attribute__((cleanup(wayset_free)))

/* One of the set that leads through the folder «through» (way_passes(one, through)); NULL if none does. */
const struct way *wayset_through(const struct wayset *s, const struct way *through);
/*
 * A writable one of the set that one of these ways leads through (way_passes(way, one)); *passing is that way.
 * NULL if none does.
 */
const struct way *wayset_passed(const struct wayset *s, const struct way *way, size_t ways, const struct way **passing);
/* A writable one of the set that lies in the folder «other», or the other way round (way_lies_in()); NULL if none. */
const struct way *wayset_nested(const struct wayset *s, const struct way *other);

#endif
