/* See cdidirs.h. Only reads, and follows no link. A bad file must never hide a good one. */
#include "cdidirs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../file.h"
#include "../listing.h"
#include "../trust.h"

/* The state of cdi_registry_load(). */
struct loading {
	struct cdi_registry *r;
	bool trusted;
	size_t dir;		/* the index of the directory at hand */
	const char *path;	/* and its path */
	size_t bytes;		/* read so far */
	struct why *why;	/* set if loading stops; empty if memory was short */
};

/*
 * True if the file may be readable a moment later. The loading then stops: without that file, a device name
 * could for the moment refer to another file's device. Any other problem of a file is the same for every
 * reader at any time.
 */
static bool
is_passing(enum trust_found found, const struct why *why)
{
	return found == TRUST_REPLACED || (found == TRUST_FAILED && why->code != WHY_BUG);
}

static int
stop_loading(const struct loading *l, const struct why *why)
{
	return refuse(l->why, WHY_IO, "CDI specs: %s", why->text);
}

/* The reason without its leading path, because whoever prints it prints the path first. */
static const char *
without_path(const char *reason, const char *path)
{
	size_t n = strlen(path);

	if (strncmp(reason, path, n) != 0)
		return reason;
	return reason + n + strspn(reason + n, ": ");
}

/* Gets the names of the spec files, sorted. More files than CDI_FILES_MAX are a problem to report, and no failure. */
static int
list_specs(struct loading *l, int dirfd, struct strlist *names)
{
	autostrlist struct strlist all = { 0 };
	enum cdi_format format;
	struct stat st;
	char text[1200];
	size_t i;

	if (listing_names(dup(dirfd), SIZE_MAX, &all) == -1)
		return errno == ENOMEM ? -1 : refuse(l->why, WHY_IO, "CDI specs: %s: %s", l->path, strerror(errno));
	for (i = 0; i < all.n; i++) {
		if (!cdi_format_of(all.v[i], &format) ||
		    (fstatat(dirfd, all.v[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)))
			continue;
		if (names->n >= CDI_FILES_MAX) {
			snprintf(text, sizeof(text), "%s: more than %d files: the others are not read", l->path, CDI_FILES_MAX);
			return strlist_add(&l->r->problems, text, SIZE_MAX) ? 0 : -1;
		}
		if (!strlist_add(names, all.v[i], SIZE_MAX))
			return -1;
	}
	return 0;
}

static int
read_spec(struct loading *l, int dirfd, const char *name, struct cdi_file *v)
{
	enum trust_found found = TRUST_FAILED;
	struct why why = { 0 };
	unsigned i;

	/* a file that is just being replaced is there again at once */
	for (i = 0; i < 3 && v->text == NULL && (i == 0 || why.code == WHY_AGAIN); i++)
		found = trust_find_text(dirfd, name, v->path, CDI_TEXT_MAX, l->trusted, &v->text, &v->len, &why);
	if (is_passing(found, &why))
		return stop_loading(l, &why);
	if (v->text == NULL)
		return why.code != WHY_BUG && strlist_add(&v->problems, without_path(why.text, v->path), SIZE_MAX) ? 0 : -1;
	if ((l->bytes += v->len) > CDI_BYTES_MAX)
		return refuse(l->why, WHY_IO, "CDI specs: %s: the files up to this one have more than %d MiB", v->path,
		    CDI_BYTES_MAX / 1024 / 1024);
	return 0;
}

static int
load_file(struct loading *l, int dirfd, const char *name)
{
	struct cdi_file *v = reallocarray(l->r->file, l->r->files + 1, sizeof(*v));

	if (v == NULL)
		return -1;
	l->r->file = v;
	v = &v[l->r->files];
	*v = (struct cdi_file){ .dir = l->dir };
	if (asprintf(&v->path, "%s/%s", l->path, name) == -1)
		return -1;
	l->r->files++;
	return read_spec(l, dirfd, name, v);
}

static int
load_dir(struct loading *l)
{
	autostrlist struct strlist names = { 0 };
	autoclose int fd = -1;
	enum trust_found found;
	struct why why;
	size_t i;

	if (is_passing(found = trust_find_dir(l->path, l->trusted, &fd, &why), &why))
		return stop_loading(l, &why);
	if (found != TRUST_FOUND)
		return found == TRUST_ABSENT || (why.code != WHY_BUG && strlist_add(&l->r->problems, why.text, SIZE_MAX)) ? 0 : -1;
	if (list_specs(l, fd, &names) == -1)
		return -1;
	for (i = 0; i < names.n; i++)
		if (load_file(l, fd, names.v[i]) == -1)
			return -1;
	return 0;
}

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

static int
load_dirs(struct loading *l, const char *dirs)
{
	autofree char *copy = strdup(dirs);
	char *dir, *rest = copy;

	if (copy == NULL)
		return -1;
	while ((dir = strsep(&rest, ":")) != NULL) {
		if (*dir == '\0')
			continue;
		l->path = dir;
		if (load_dir(l) == -1)
			return -1;
		l->dir++;
	}
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
cdi_registry_read(const char *dirs, bool trusted, struct cdi_registry *r, struct why *why)
{
	struct why stopped = { 0 };
	struct loading l = { .r = r, .trusted = trusted, .why = &stopped };

	*r = (struct cdi_registry){ 0 };
	if (load_dirs(&l, dirs) == 0)
		return 0;
	*why = stopped;
	return stopped.code != WHY_NONE ? -1 : refuse_nomem(why);
}

int
cdi_registry_parse(struct cdi_registry *r, bool trusted, cdi_parser *parse, struct why *why)
{
	size_t i;

	if (r->files > 0 && parse(r, why) == -1)
		return -1;
	for (i = 0; i < r->files; i++)
		finish_file(&r->file[i], trusted);
	return add_entries(r) == -1 || drop_overridden(r) == -1 ? refuse_nomem(why) : 0;
}

int
cdi_registry_load(const char *dirs, bool trusted, cdi_parser *parse, struct cdi_registry *r, struct why *why)
{
	return cdi_registry_read(dirs, trusted, r, why) == -1 ? -1 : cdi_registry_parse(r, trusted, parse, why);
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
