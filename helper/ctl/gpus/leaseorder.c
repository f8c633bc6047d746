/* See leaseorder.h.  Only moves the array's elements. */
#include "leaseorder.h"

#include <stdlib.h>
#include <string.h>

#include "../ctl.h"

struct numbered {
	json_t *lease;
	size_t rank, at;	/* by its state, and where it was */
};

/* A state that this program does not know may be a living container's. */
static size_t
rank_of(const json_t *lease)
{
	static const char *const last[] = { "idle", "giving-back", "draining", "over", "promised", "passed-on" };
	const char *state = get_text(lease, "state");
	size_t i;

	for (i = 0; i < sizeof(last) / sizeof(last[0]); i++)
		if (strcmp(state, last[i]) == 0)
			return i + 1;
	return 0;
}

static int
compare_leases(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	int since;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	/* RFC 3339 in UTC: the order of the text is that of the times */
	if ((since = strcmp(get_text(x->lease, "since"), get_text(y->lease, "since"))) != 0)
		return since;
	return x->at < y->at ? -1 : 1;
}

void
leases_sort(json_t *leases)
{
	const size_t n = json_array_size(leases);
	struct numbered *v = n > 0 ? calloc(n, sizeof(*v)) : NULL;
	size_t i;

	if (v == NULL)
		return;
	for (i = 0; i < n; i++) {
		v[i] = (struct numbered){ .lease = json_incref(json_array_get(leases, i)), .at = i };
		v[i].rank = rank_of(v[i].lease);
	}
	qsort(v, n, sizeof(*v), compare_leases);
	for (i = 0; i < n; i++)
		(void)json_array_set_new(leases, i, v[i].lease);
	free(v);
}
