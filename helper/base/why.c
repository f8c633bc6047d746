/*
 * See why.h. Assumes any bytes. Makes one printable line of them, because it goes to build logs, JSON log
 * files and terminals.
 */
#include "why.h"

#include <stdarg.h>
#include <stdio.h>

#include "text.h"

int
refuse(struct why *w, enum why_code code, const char *fmt, ...)
{
	char line[sizeof(w->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	w->code = code;
	text_printable(w->text, sizeof(w->text), line);
	return -1;
}

int
refuse_nomem(struct why *w)
{
	return refuse(w, WHY_BUG, "out of memory");
}

int
refuse_within(struct why *w, const char *prefix)
{
	struct why inner = *w;

	return refuse(w, inner.code, "%s: %s", prefix, inner.text);
}
