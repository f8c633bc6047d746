/* See cdi_validate.h: prints faults of CDI specs as text and JSON, and finds out what they are judged by. */
#include "cdi_validate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../configload.h"

void
cdi_say_fault(FILE *out, const char *file, const struct cdi_fault *v)
{
	char line[sizeof(v->text) + sizeof(v->path) + 64], shown[512];

	cdi_fault_line(v, line, sizeof(line));
	text_printable(shown, sizeof(shown), file);
	fprintf(out, "%s:%s%s\n", shown, v->line != 0 ? "" : " ", line);
}

json_t *
cdi_fault_json(const char *file, const struct cdi_fault *v)
{
	json_t *j = json_object();

	put_text(j, "file", file);
	if (v->line != 0) {
		json_object_set_new(j, "line", json_integer(v->line));
		json_object_set_new(j, "column", json_integer(v->column));
	}
	if (v->path[0] != '\0')
		put_text(j, "path", v->path);
	put_text(j, "kind", cdi_layer_name(v->layer));
	put_text(j, "message", v->text);
	return j;
}

char *
cdi_spec_dirs(const char *given, struct why *why)
{
	autofree char *copy = strdup(given);
	autobuf struct buf b = { 0 };
	char *dir, *rest = copy, *text;

	while (rest != NULL && (dir = strsep(&rest, ":")) != NULL) {
		autofree char *real = *dir != '\0' ? realpath(dir, NULL) : NULL;

		if (real == NULL && *dir != '\0' && errno != ENOENT) {
			refuse(why, WHY_IO, "%.200s: %s", dir, strerror(errno));
			return NULL;
		}
		if (real != NULL)
			buf_printf(&b, "%s%s", b.len > 0 ? ":" : "", real);
	}
	if (copy == NULL || (text = buf_take(&b)) == NULL) {
		refuse_nomem(why);
		return NULL;
	}
	return text;
}

bool
cdi_hooks_run(const struct options *o)
{
	autosettings struct settings s = { 0 };
	struct why ignored;

	/* a machine that is not set up: the defaults */
	if (!o->elsewhere && access(o->config_dir, F_OK) == -1 && errno == ENOENT)
		return false;
	return config_settings(o, &s, &ignored) == -1 || s.cdi_hooks;
}

bool
cdi_say_problems(const struct cdi_registry *r, bool unsafe)
{
	const struct cdi_file *f;
	bool any = r->problems.n > 0;
	size_t i, k;

	for (i = 0; i < r->problems.n; i++)
		complain(WHY_DATA, "%s", r->problems.v[i]);
	for (i = 0; i < r->files; i++) {
		f = &r->file[i];
		for (k = 0; k < f->problems.n; k++)
			complain(WHY_DATA, "%s: %s", f->path, f->problems.v[k]);
		any = any || f->problems.n > 0 || f->faults.invalid > 0 || (unsafe && f->faults.unsafe > 0);
		for (k = 0; k < f->faults.n; k++)
			if (f->faults.v[k].layer == CDI_INVALID || (unsafe && f->faults.v[k].layer != CDI_WARNING)) {
				fputs("gpuhelperctl: ", stderr);
				cdi_say_fault(stderr, f->path, &f->faults.v[k]);
			}
	}
	return any;
}
