/* See idmap.h. Assumes that anyone chose the numbers: nothing may wrap around. */
#include "idmap.h"

#include <string.h>

#include "../base/text.h"

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

static bool
add_range(struct idmap *m, uint64_t inside, uint64_t outside, uint64_t size)
{
	if (size == 0)
		return true;
	if (m->n == IDMAP_MAX)
		return false;
	m->v[m->n++] = (struct idrange){ (uint32_t)inside, (uint32_t)outside, (uint32_t)size };
	return true;
}

/* Adds the part of «in» whose outside ids are inside ids of «on». */
static bool
add_meeting(struct idmap *m, const struct idrange *in, const struct idrange *on)
{
	const uint64_t in_end = (uint64_t)in->outside + in->size, on_end = (uint64_t)on->inside + on->size;
	const uint64_t from = in->outside > on->inside ? in->outside : on->inside;
	uint64_t to = in_end < on_end ? in_end : on_end, inside, outside;

	if (from >= to)
		return true;
	inside = in->inside + (from - in->outside);
	outside = on->outside + (from - on->inside);
	/* skip a range that would wrap around */
	if (inside >= UINT32_MAX || outside >= UINT32_MAX)
		return true;
	to = to - from;
	to = inside + to > UINT32_MAX ? UINT32_MAX - inside : to;
	return add_range(m, inside, outside, outside + to > UINT32_MAX ? UINT32_MAX - outside : to);
}

bool
idmap_compose(const struct idmap *outer, const struct idmap *inner, struct idmap *out)
{
	size_t i, k;

	if (inner->identity || outer->identity) {
		*out = inner->identity ? *outer : *inner;
		return true;
	}
	*out = (struct idmap){ 0 };
	for (i = 0; i < inner->n; i++)
		for (k = 0; k < outer->n; k++)
			if (!add_meeting(out, &inner->v[i], &outer->v[k]))
				return false;
	return true;
}

/* Reads the next number of a line. Returns what follows it. */
static const char *
map_number(const char *p, uint32_t *out)
{
	char digits[16];
	size_t n;

	p += strspn(p, " ");
	n = strcspn(p, " \n");
	if (n == 0 || n >= sizeof(digits))
		return NULL;
	memcpy(digits, p, n);
	digits[n] = '\0';
	return text_u32(digits, 0, UINT32_MAX, out) ? p + n : NULL;
}

bool
idmap_parse(const char *text, struct idmap *out)
{
	uint32_t inside, outside, size;
	const char *p = text;

	*out = (struct idmap){ 0 };
	while (*p != '\0') {
		if ((p = map_number(p, &inside)) == NULL || (p = map_number(p, &outside)) == NULL ||
		    (p = map_number(p, &size)) == NULL || *p++ != '\n' || !add_range(out, inside, outside, size))
			return false;
	}
	return out->n > 0;
}
