/* See gpu.h: inventory_copy(). The helper does not link this file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "gpufind.h"

/* A copy of n members. NULL if memory is short. */
static void *
copy_of(const void *v, size_t n, size_t size)
{
	void *copy = calloc(n + 1, size);

	if (copy == NULL)
		return NULL;
	return n > 0 ? memcpy(copy, v, n * size) : copy;
}

/* As if the vendor's GPUs had not been looked for. */
static void
forget_vendor(struct inventory *inv, unsigned v)
{
	inv->commons[v] = 0;
	inv->fault[v] = (struct why){ 0 };
	snprintf(inv->absent[v], sizeof(inv->absent[v]), "not looked for");
}

int
inventory_copy(const struct inventory *from, unsigned vendors, struct inventory *out, struct why *why)
{
	size_t i, n = 0;
	unsigned v;
	bool whole;

	*out = (struct inventory){ 0 };
	for (v = 0; v < GPU_VENDORS; v++)
		if ((vendors & 1U << v) != 0 && from->fault[v].code != WHY_NONE)
			return refuse(why, from->fault[v].code, "%s", from->fault[v].text);
	*out = *from;
	out->cdi_problem = out->cdi_problem_kind = (struct strlist){ 0 };
	out->gpu = copy_of(from->gpu, from->gpus, sizeof(*out->gpu));
	out->udev_clears = copy_of(from->udev_clears, from->udev_clears_n, sizeof(*out->udev_clears));
	out->majors.v = copy_of(from->majors.v, from->majors.n, sizeof(*out->majors.v));
	out->cdi_others = (struct strlist){ 0 };
	out->gpus = 0;
	whole = strlist_append(&out->cdi_others, &from->cdi_others);
	if (out->gpu == NULL || out->udev_clears == NULL || out->majors.v == NULL)
		return refuse_nomem(why);
	for (i = 0; i < from->gpus; i++)
		if ((vendors & 1U << from->gpu[i].vendor) != 0) {
			out->gpu[n] = from->gpu[i];
			out->gpu[n].cdi = (struct strlist){ 0 };
			whole = strlist_append(&out->gpu[n++].cdi, &from->gpu[i].cdi) && whole;
		}
	out->gpus = n;
	if (!whole || !strlist_append(&out->cdi_problem, &from->cdi_problem) ||
	    !strlist_append(&out->cdi_problem_kind, &from->cdi_problem_kind))
		return refuse_nomem(why);
	for (v = 0; v < GPU_VENDORS; v++)
		if ((vendors & 1U << v) == 0)
			forget_vendor(out, v);
	return 0;
}
