/* See idmap.h.  The numbers are whatever someone claims: nothing may wrap around. */
#include "idmap.h"

static bool
shift(uint32_t id, uint32_t from, uint32_t to, uint32_t size, uint32_t *out)
{
	uint32_t r;

	if (id == UINT32_MAX || id < from || id - from >= size || __builtin_add_overflow(to, id - from, &r) ||
	    r == UINT32_MAX)
		return false;
	*out = r;
	return true;
}

bool
idmap_out(const struct idmap *m, uint32_t inside, uint32_t *outside)
{
	size_t i;

	if (m->identity) {
		*outside = inside;
		return inside != UINT32_MAX;
	}
	for (i = 0; i < m->n; i++)
		if (shift(inside, m->v[i].inside, m->v[i].outside, m->v[i].size, outside))
			return true;
	return false;
}

bool
idmap_in(const struct idmap *m, uint32_t outside, uint32_t *inside)
{
	size_t i;

	if (m->identity) {
		*inside = outside;
		return outside != UINT32_MAX;
	}
	for (i = 0; i < m->n; i++)
		if (shift(outside, m->v[i].outside, m->v[i].inside, m->v[i].size, inside))
			return true;
	return false;
}
