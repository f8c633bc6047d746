/* See cdifault.h. The spec's author chose the texts, so they are made printable here, once. */
#include "cdifault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/text.h"

void
cdi_fault(struct cdi_faults *f, enum cdi_layer layer, uint32_t line, uint32_t column, const char *path,
    const char *fmt, ...)
{
	struct cdi_fault *v;
	char text[sizeof(v->text)];
	va_list ap;

	f->invalid += layer == CDI_INVALID;
	f->unsafe += layer == CDI_UNSAFE || layer == CDI_UNSAFE_HOOK;
	f->unsafe_hooks += layer == CDI_UNSAFE_HOOK;
	f->warnings += layer == CDI_WARNING;
	if (f->n >= CDI_FAULTS_MAX)
		return;
	if ((v = reallocarray(f->v, f->n + 1, sizeof(*v))) == NULL) {
		f->starved = true;
		return;
	}
	f->v = v;
	v = &v[f->n++];
	*v = (struct cdi_fault){ .layer = layer, .line = line, .column = column };
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_printable(v->text, sizeof(v->text), text);
	text_printable(v->path, sizeof(v->path), path);
}

const struct cdi_fault *
cdi_first_fault(const struct cdi_faults *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].layer == CDI_INVALID || f->v[i].layer == CDI_UNSAFE)
			return &f->v[i];
	return f->n > 0 ? &f->v[0] : NULL;
}
