/*
 * The ways of one lease, sorted, so that under the lock other ways can be compared with them in less than the product
 * of both numbers. The answers are those of way_passes() and way_lies_in() (way.h) for any two ways.
 */
#ifndef GPUHELPER_LEASE_WAYSET_H
#define GPUHELPER_LEASE_WAYSET_H

#include <stdbool.h>
#include <stddef.h>

#include "way.h"

/* Starts of paths or places; the texts belong to the ways. */
struct way_marks {
	struct way_mark *v;
	size_t n, room;
};

struct wayset {
	struct way_marks above, places_above;		/* what the ways go through */
	struct way_marks writable, writable_places;	/* the writable folders */
	struct way_marks holding;			/* the places that these are in */
};

/* Sorts the ways, which must stay unchanged. False if memory is short. wayset_free() in any case. */
bool wayset_make(struct wayset *s, const struct way *way, size_t ways);
void wayset_free(struct wayset *s);
#define autowayset __attribute__((cleanup(wayset_free)))

/*
 * A way of the set that goes through the folder «through» (way_passes(one, through)); NULL if there is none.
 */
const struct way *wayset_through(const struct wayset *s, const struct way *through);
/*
 * A writable folder of the set through which one of these ways goes (way_passes(way, one)); *passing is that
 * way. NULL if there is none.
 */
const struct way *wayset_passed(const struct wayset *s, const struct way *way, size_t ways, const struct way **passing);
/*
 * A writable folder of the set that is in «other», or the other way round (way_lies_in()). NULL if there is
 * none.
 */
const struct way *wayset_nested(const struct wayset *s, const struct way *other);

#endif
