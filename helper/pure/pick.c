/* See pick.h. */
#include "pick.h"

#include <stdio.h>
#include <string.h>

json_t *
held_gpu_pack(const struct held_gpu *g)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:i}", "vendor", gpu_vendor_name(g->vendor), "pci", g->pci,
	    "part", g->part, "exclusive", g->exclusive, "limit", (int)g->limit);
}

static bool
skip_number(const char **p)
{
	size_t n = strspn(*p, "0123456789");

	if (n == 0 || (n > 1 && **p == '0'))
		return false;
	*p += n;
	return true;
}

/* "", "3" or "3:0" */
static bool
part_is_valid(const char *p)
{
	if (*p == '\0')
		return true;
	if (!skip_number(&p))
		return false;
	return *p == '\0' || (*p++ == ':' && skip_number(&p) && *p == '\0');
}

static bool
read_part(const json_t *j, struct held_gpu *g)
{
	const json_t *part = json_object_get(j, "part"), *old = json_object_get(j, "partition");
	const char *s = json_string_value(part);
	json_int_t n = json_integer_value(old);

	if (part != NULL) {
		if (old != NULL || s == NULL || strlen(s) >= sizeof(g->part) || !part_is_valid(s))
			return false;
		memcpy(g->part, s, strlen(s) + 1);
		return true;
	}
	if (!json_is_integer(old) || n < 0 || n > UINT32_MAX)
		return false;
	/*
	 * Its holder may be running still.  0 was the first partition and a GPU
	 * without any: it is taken for the whole, which keeps the most from others.
	 */
	if (n > 0)
		snprintf(g->part, sizeof(g->part), "%u", (unsigned)n);
	return true;
}

int
held_gpu_unpack(const json_t *j, struct held_gpu *g)
{
	const char *vendor = json_string_value(json_object_get(j, "vendor"));
	const char *pci = json_string_value(json_object_get(j, "pci"));

	*g = (struct held_gpu){ .exclusive = json_is_true(json_object_get(j, "exclusive")),
		.limit = (unsigned)json_integer_value(json_object_get(j, "limit")) };
	return vendor != NULL && pci != NULL && gpu_vendor_parse(vendor, &g->vendor) &&
	    pci_address_normalise(pci, g->pci) && read_part(j, g) ? 0 : -1;
}

bool
held_same(const struct held_gpu *a, const struct held_gpu *b)
{
	return a->vendor == b->vendor && strcmp(a->pci, b->pci) == 0 && strcmp(a->part, b->part) == 0;
}

/* "" has all in it, "3" has "3:0", and each has itself. */
static bool
part_has(const char *whole, const char *part)
{
	size_t n = strlen(whole);

	return n == 0 || (strncmp(whole, part, n) == 0 && (part[n] == '\0' || part[n] == ':'));
}

bool
held_overlaps(const struct held_gpu *a, const struct held_gpu *b)
{
	return a->vendor == b->vendor && strcmp(a->pci, b->pci) == 0 &&
	    (part_has(a->part, b->part) || part_has(b->part, a->part));
}

/*
 * How many hold it or a part of it or what it is a part of; *exclusive if one of
 * them lets no one else hold it, *limit the smallest of theirs (0: none).
 */
static unsigned
holders(const struct holding *held, size_t n, const struct held_gpu *g, bool *exclusive, unsigned *limit)
{
	const struct held_gpu *h;
	unsigned count = 0;
	size_t i, k;

	*exclusive = false;
	*limit = 0;
	for (i = 0; i < n; i++)
		for (k = 0; k < held[i].gpus; k++) {
			h = &held[i].gpu[k];
			if (!held_overlaps(h, g))
				continue;
			count++;
			/* whole and part are never shared with each other: their limits speak of different things */
			*exclusive = *exclusive || h->exclusive || !held_same(h, g);
			if (h->limit != 0 && (*limit == 0 || h->limit < *limit))
				*limit = h->limit;
		}
	return count;
}

bool
pick_wants_any(const struct pick_want *want, size_t wants, const struct held_gpu *gpu, size_t gpus)
{
	size_t i, k, c;

	for (i = 0; i < gpus; i++)
		for (k = 0; k < wants; k++)
			for (c = 0; c < want[k].candidates; c++)
				if (held_overlaps(&gpu[i], &want[k].candidate[c]))
					return true;
	return false;
}

bool
pick_has_room(const struct holding *held, size_t n, const struct held_gpu *as)
{
	unsigned limit, count;
	bool exclusive;

	if ((count = holders(held, n, as, &exclusive, &limit)) == 0)
		return true;
	if (exclusive || as->exclusive)
		return false;
	if (as->limit != 0 && (limit == 0 || as->limit < limit))
		limit = as->limit;
	return limit == 0 || count < limit;
}

static bool
is_picked(const struct pick_want *want, const struct pick *picks, size_t n, const struct held_gpu *g)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (held_overlaps(&want[picks[i].want].candidate[picks[i].candidate], g))
			return true;
	return false;
}

/* The candidate of a want that is best to take next; its number of candidates if there is none. */
static size_t
best_of(const struct holding *held, size_t n, const struct pick_want *want, const struct pick_want *w,
    const struct pick *picks, size_t picked)
{
	size_t i, best = w->candidates;
	unsigned count, least = 0, limit;
	bool exclusive;

	for (i = 0; i < w->candidates; i++) {
		if (is_picked(want, picks, picked, &w->candidate[i]) || !pick_has_room(held, n, &w->candidate[i]))
			continue;
		/* it has room, so these hold just the same: a part is chosen by its own holders, not by its GPU's */
		count = holders(held, n, &w->candidate[i], &exclusive, &limit);
		if (best == w->candidates || count < least) {
			best = i;
			least = count;
		}
	}
	return best;
}

bool
pick_gpus(const struct holding *held, size_t n, const struct pick_want *want, size_t wants, struct pick *picks,
    size_t max, size_t *picked)
{
	bool all = true, choice;
	unsigned left;
	size_t i, best;

	*picked = 0;
	/* wants with no choice first, or a freer one might take what they need */
	for (choice = false;; choice = true) {
		for (i = 0; i < wants; i++) {
			if ((want[i].candidates > want[i].count) != choice)
				continue;
			for (left = want[i].count; left > 0; left--) {
				best = best_of(held, n, want, &want[i], picks, *picked);
				if (best == want[i].candidates || *picked == max) {
					all = false;
					break;
				}
				picks[(*picked)++] = (struct pick){ i, best };
			}
		}
		if (choice)
			return all;
	}
}
