/* See cdigpus.h. A name that is in conflict belongs to no GPU. */
#include "cdigpus.h"

#include <stdio.h>

#include "../pure/cdigpu.h"

/* Records the file's first problem, as «/etc/cdi/nvidia.yaml: line 3: ...». */
static void
say_problem(const struct cdi_file *f, struct inventory *inv)
{
	const struct cdi_fault *first = f->faults.n > 0 ? &f->faults.v[0] : NULL;

	if (f->problems.n > 0)
		snprintf(inv->cdi_problem, sizeof(inv->cdi_problem), "%.120s: %.120s", f->path, f->problems.v[0]);
	else if (first != NULL)
		snprintf(inv->cdi_problem, sizeof(inv->cdi_problem), "%.80s:%u:%u: %.60s%s%.90s", f->path, first->line,
		    first->column, first->path, first->path[0] != '\0' ? ": " : "", first->text);
	else
		snprintf(inv->cdi_problem, sizeof(inv->cdi_problem), "%.200s: can't be used", f->path);
}

int
cdigpus_name(const struct cdi_registry *r, struct inventory *inv, struct why *why)
{
	struct gpu *g;
	size_t i;

	inv->cdi_problem[0] = '\0';
	for (i = 0; i < r->files && inv->cdi_problem[0] == '\0'; i++)
		if (!r->file[i].usable || r->file[i].problems.n > 0)
			say_problem(&r->file[i], inv);
	if (inv->cdi_problem[0] == '\0' && r->problems.n > 0)
		snprintf(inv->cdi_problem, sizeof(inv->cdi_problem), "%.250s", r->problems.v[0]);
	for (i = 0; i < r->entries; i++) {
		if (r->entry[i].conflict || (g = cdi_gpu_of(r->entry[i].device, inv)) == NULL)
			continue;
		if (!strlist_add(&g->cdi, r->entry[i].name, SIZE_MAX))
			return refuse_nomem(why);
	}
	return 0;
}
