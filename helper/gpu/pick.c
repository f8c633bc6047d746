/* See pick.h. */
#include "pick.h"

#include <stdio.h>
#include <string.h>

#include "inventorylines.h"

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
leased_gpu_fields(struct lines *s, void *gpu)
{
	struct leased_gpu *g = gpu;
	const char *const vendors[] = { gpu_vendor_name(GPU_NVIDIA), gpu_vendor_name(GPU_AMD), gpu_vendor_name(GPU_INTEL) };
	char pci[sizeof(g->pci)];

	g->vendor = (enum gpu_vendor)field_name(s, vendors, GPU_VENDORS, g->vendor);
	field_text(s, g->pci, sizeof(g->pci));
	field_text(s, g->part, sizeof(g->part));
	field_bool(s, &g->exclusive);
	field_u32(s, &g->limit);
	if (!s->failed && (!pci_address_normalise(g->pci, pci) || strcmp(pci, g->pci) != 0 || !part_is_valid(g->part)))
		s->failed = true;
}

void
name_leased_gpu(const struct leased_gpu *g, char out[64])
{
	snprintf(out, 64, "%s %s%s%s", gpu_vendor_name(g->vendor), g->pci, g->part[0] != '\0' ? " part " : "", g->part);
}

void
leased_gpus_write(struct jsonout *j, const char *key, const struct leased_gpu *gpu, size_t n)
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
leased_gpu_same(const struct leased_gpu *a, const struct leased_gpu *b)
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
leased_gpus_overlap(const struct leased_gpu *a, const struct leased_gpu *b)
{
	return a->vendor == b->vendor && strcmp(a->pci, b->pci) == 0 &&
	    (part_has(a->part, b->part) || part_has(b->part, a->part));
}

unsigned
holders_of(const struct holding *held, size_t n, const struct leased_gpu *g, bool *exclusive, unsigned *limit)
{
	const struct leased_gpu *h;
	unsigned count = 0;
	size_t i, k;

	*exclusive = false;
	*limit = 0;
	for (i = 0; i < n; i++)
		for (k = 0; k < held[i].gpus; k++) {
			h = &held[i].gpu[k];
			if (!leased_gpus_overlap(h, g))
				continue;
			count++;
			/* a whole and its part never share: their limits count different things */
			*exclusive = *exclusive || h->exclusive || !leased_gpu_same(h, g);
			if (h->limit != 0 && (*limit == 0 || h->limit < *limit))
				*limit = h->limit;
		}
	return count;
}

bool
gpu_demands_any(const struct gpu_demand *demand, size_t demands, const struct leased_gpu *gpu, size_t gpus)
{
	size_t i, k, c;

	for (i = 0; i < gpus; i++)
		for (k = 0; k < demands; k++)
			for (c = 0; c < demand[k].candidates; c++)
				if (leased_gpus_overlap(&gpu[i], &demand[k].candidate[c]))
					return true;
	return false;
}

bool
pick_has_room(const struct holding *held, size_t n, const struct leased_gpu *as)
{
	unsigned limit, count;
	bool exclusive;

	if ((count = holders_of(held, n, as, &exclusive, &limit)) == 0)
		return true;
	if (exclusive || as->exclusive)
		return false;
	if (as->limit != 0 && (limit == 0 || as->limit < limit))
		limit = as->limit;
	return limit == 0 || count < limit;
}
