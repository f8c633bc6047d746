/* See cdidirs.h. */
#include "cdidirs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"

_Static_assert(SPEC_TEXT_MAX == CDI_TEXT_MAX, "each file that is read can be parsed");

/* By name, then by directory and file. */
static int
by_entry(const void *a, const void *b)
{
	const struct cdi_entry *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	if (c != 0)
		return c;
	return (x->file > y->file) - (x->file < y->file);
}

static int
add_entries(struct cdi_registry *r)
{
	struct cdi_entry *e;
	size_t i, k, n = 0;

	for (i = 0; i < r->files; i++)
		n += r->file[i].usable ? r->file[i].spec.devices : 0;
	if ((r->entry = calloc(n + 1, sizeof(*r->entry))) == NULL)
		return -1;
	for (i = 0; i < r->files; i++)
		for (k = 0; r->file[i].usable && k < r->file[i].spec.devices; k++) {
			e = &r->entry[r->entries];
			*e = (struct cdi_entry){ .file = &r->file[i], .device = &r->file[i].spec.device[k] };
			if (asprintf(&e->name, "%s=%s", r->file[i].spec.kind, e->device->name) == -1)
				return -1;
			r->entries++;
		}
	if (r->entries > 1)
		qsort(r->entry, r->entries, sizeof(*r->entry), by_entry);
	return 0;
}

static int
tell_conflict(struct cdi_registry *r, const struct cdi_entry *a, const struct cdi_entry *b)
{
	struct cdi_file *f = &r->file[a->file - r->file];
	autofree char *text = NULL;

	if (asprintf(&text, "device %s is in %s, too: none of them is used", a->name, b->file->path) == -1) {
		text = NULL;
		return -1;
	}
	return strlist_add(&f->problems, text, SIZE_MAX) ? 0 : -1;
}

/* Keeps the last entry of each name, and records conflicts. */
static int
drop_overridden(struct cdi_registry *r)
{
	struct cdi_entry *v = r->entry;
	size_t i, to = 0;

	for (i = 0; i < r->entries; i++) {
		if (to > 0 && strcmp(v[to - 1].name, v[i].name) == 0) {
			if (v[to - 1].file->dir == v[i].file->dir) {
				if (tell_conflict(r, &v[to - 1], &v[i]) == -1 || tell_conflict(r, &v[i], &v[to - 1]) == -1)
					return -1;
				v[to - 1].conflict = true;
			}
			v[to - 1].file = v[i].file;
			v[to - 1].device = v[i].device;
			free(v[i].name);
		} else
			v[to++] = v[i];
		if (to - 1 != i)
			v[i].name = NULL;
	}
	r->entries = to;
	return 0;
}

/* Decides whether the file is usable, and frees the text, which nobody needs after parsing. */
static void
finish_file(struct cdi_file *f, bool trusted)
{
	f->usable = f->usable && !(trusted && f->faults.unsafe > f->faults.unsafe_hooks);
	free(f->text);
	f->text = NULL;
}

int
cdi_registry_adopt(struct cdi_registry *r, struct spec_files *f, struct why *why)
{
	size_t i;

	*r = (struct cdi_registry){ .problems = f->problems };
	f->problems = (struct strlist){ .n = 0 };
	if ((r->file = calloc(f->n + 1, sizeof(*r->file))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < f->n; i++) {
		r->file[i] = (struct cdi_file){ .path = f->v[i].path, .dir = f->v[i].dir, .text = f->v[i].text, .len = f->v[i].len,
			.problems = f->v[i].problems };
		f->v[i] = (struct spec_file){ .path = NULL };
	}
	r->files = f->n;
	return 0;
}

int
cdi_registry_finish(struct cdi_registry *r, bool trusted, struct why *why)
{
	size_t i;

	for (i = 0; i < r->files; i++)
		finish_file(&r->file[i], trusted);
	return add_entries(r) == -1 || drop_overridden(r) == -1 ? refuse_nomem(why) : 0;
}

int
cdi_registry_load(const char *dirs, bool trusted, cdi_parser *parse, struct cdi_registry *r, struct why *why)
{
	autospecfiles struct spec_files files = { 0 };

	*r = (struct cdi_registry){ 0 };
	return spec_files_read(dirs, trusted, &files, why) == -1 || cdi_registry_adopt(r, &files, why) == -1 ||
	    (r->files > 0 && parse(r, why) == -1) ? -1 : cdi_registry_finish(r, trusted, why);
}

const struct cdi_entry *
cdi_registry_find(const struct cdi_registry *r, const char *name)
{
	size_t low = 0, high = r->entries, mid;
	int c;

	while (low < high) {
		mid = low + (high - low) / 2;
		if ((c = strcmp(name, r->entry[mid].name)) == 0)
			return r->entry[mid].conflict ? NULL : &r->entry[mid];
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}
