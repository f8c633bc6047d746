/* See doctor.h: prints a finding, as a line or as JSON. */
#include "doctor.h"

#include <stdarg.h>

#include "../../base/cleanup.h"

void
doctor_say(struct doctor *d, enum finding f, const char *topic, const char *fix, const char *fmt, ...)
{
	static const char *const words[] = { "ok", "warn", "fail" };
	autofree char *text = NULL;
	va_list ap;
	json_t *j;

	va_start(ap, fmt);
	text = format_text(fmt, ap);
	va_end(ap);
	d->warnings += f == FINDING_WARN;
	d->failures += f == FINDING_FAIL;
	if (!d->options->json) {
		say("%-4s %s: %s%s%s", words[f], topic, text != NULL ? text : "out of memory", fix != NULL ? ": " : "",
		    fix != NULL ? fix : "");
		return;
	}
	j = json_object();
	put_text(j, "check", topic);
	put_text(j, "state", words[f]);
	put_text(j, "text", text);
	put_text(j, "mend", fix);
	json_array_append_new(d->checks, j);
}
