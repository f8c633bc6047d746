/* See conffault.h. A fault may quote the file, so only printable text is kept. */
#include "conffault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/text.h"

#define FAULTS_MAX 10000	/* kept: one for each folder of a policy, and more */

void
fault_add(struct faults *f, unsigned line, bool warning, const char *fmt, ...)
{
	struct fault *v;
	char text[sizeof(v->text)];
	va_list ap;

	f->errors += !warning;
	if (f->n >= FAULTS_MAX || (v = reallocarray(f->v, f->n + 1, sizeof(*v))) == NULL)
		return;
	f->v = v;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	f->v[f->n] = (struct fault){ .line = line, .warning = warning };
	text_printable(f->v[f->n].text, sizeof(f->v[f->n].text), text);
	f->n++;
}

void
faults_free(struct faults *f)
{
	free(f->v);
	*f = (struct faults){ 0 };
}
