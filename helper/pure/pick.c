/* See pick.h. */
#include "pick.h"

#include <stdio.h>
#include <string.h>

static bool
skip_decimal(const char **p)
{
	size_t n = strspn(*p, "0123456789");

	if (n == 0 || (n > 1 && **p == '0'))
		return false;
	*p += n;
	return true;
}

/* True for "", "3" and "3:0". */
static bool
part_is_valid(const char *p)
{
	if (*p == '\0')
		return true;
	if (!skip_decimal(&p))
		return false;
	return *p == '\0' || (*p++ == ':' && skip_decimal(&p) && *p == '\0');
}

void
held_gpu_words(struct lines *s, void *gpu)
{
	struct held_gpu *g = gpu;
	const char *const vendors[] = { gpu_vendor_name(GPU_NVIDIA), gpu_vendor_name(GPU_AMD), gpu_vendor_name(GPU_INTEL) };
	char pci[sizeof(g->pci)];

	g->vendor = (enum gpu_vendor)word_name(s, vendors, GPU_VENDORS, g->vendor);
	word_text(s, g->pci, sizeof(g->pci));
	word_text(s, g->part, sizeof(g->part));
	word_bool(s, &g->exclusive);
	word_u32(s, &g->limit);
	if (!s->failed && (!pci_address_normalise(g->pci, pci) || strcmp(pci, g->pci) != 0 || !part_is_valid(g->part)))
		s->failed = true;
}

void
name_held_gpu(const struct held_gpu *g, char out[64])
{
	snprintf(out, 64, "%s %s%s%s", gpu_vendor_name(g->vendor), g->pci, g->part[0] != '\0' ? " part " : "", g->part);
}

void
held_gpus_write(struct jsonout *j, const char *key, const struct held_gpu *gpu, size_t n)
{
	size_t i;

	jsonout_begin(j, key, "[");
	for (i = 0; i < n; i++) {
		jsonout_begin(j, NULL, "{");
		jsonout_text(j, "vendor", gpu_vendor_name(gpu[i].vendor));
		jsonout_text(j, "pci", gpu[i].pci);
		jsonout_text(j, "part", gpu[i].part);
		jsonout_bool(j, "exclusive", gpu[i].exclusive);
		jsonout_int(j, "limit", gpu[i].limit);
		jsonout_end(j, "}");
	}
	jsonout_end(j, "]");
}

bool
held_same(const struct held_gpu *a, const struct held_gpu *b)
{
	return a->vendor == b->vendor && strcmp(a->pci, b->pci) == 0 && strcmp(a->part, b->part) == 0;
}

/* True if «part» is in «whole» or the same: "" contains all, "3" contains "3:0". */
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
 * Counts the holders of the GPU, of a part of it, or of a whole that it is a part of. *exclusive: one of them
 * allows no other holder. *limit: the smallest of their limits (0: none).
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
			/* a whole and its part never share: their limits count different things */
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

/* The best candidate of a want to take next; w->candidates if there is none. */
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
		/*
		 * the candidate has room, so these hold exactly the candidate: for a part, its own holders count, not
		 * those of its GPU
		 */
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
	/* wants without a choice go first, because one with a choice may take what they need */
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
