/* See cdifault.h: faults as they are shown.  The helper does not link this file. */
#include <stdio.h>
#include <stdlib.h>

#include "cdifault.h"

static bool
comes_before(const struct cdi_fault *a, const struct cdi_fault *b)
{
	return a->line != b->line ? a->line < b->line : a->column < b->column;
}

void
cdi_faults_sort(struct cdi_faults *f)
{
	struct cdi_fault x;
	size_t i, j;

	for (i = 1; i < f->n; i++) {
		x = f->v[i];
		for (j = i; j > 0 && comes_before(&x, &f->v[j - 1]); j--)
			f->v[j] = f->v[j - 1];
		f->v[j] = x;
	}
}

void
cdi_faults_excuse_hooks(struct cdi_faults *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].layer == CDI_UNSAFE_HOOK)
			f->v[i].layer = CDI_WARNING;
	f->unsafe -= f->unsafe_hooks;
	f->warnings += f->unsafe_hooks;
	f->unsafe_hooks = 0;
}

const char *
cdi_layer_name(enum cdi_layer layer)
{
	static const char *const names[] = { [CDI_INVALID] = "invalid", [CDI_UNSAFE] = "unsafe",
		[CDI_UNSAFE_HOOK] = "unsafe", [CDI_WARNING] = "warning" };

	return names[layer];
}

void
cdi_fault_line(const struct cdi_fault *v, char *out, size_t size)
{
	char where[32] = "";

	if (v->line != 0)
		snprintf(where, sizeof(where), "%u:%u: ", v->line, v->column);
	snprintf(out, size, "%s%s%s%s%s%s", where, v->layer != CDI_INVALID ? cdi_layer_name(v->layer) : "",
	    v->layer != CDI_INVALID ? ": " : "", v->path, v->path[0] != '\0' ? ": " : "", v->text);
}

void
cdi_faults_free(struct cdi_faults *f)
{
	free(f->v);
	*f = (struct cdi_faults){ 0 };
}
