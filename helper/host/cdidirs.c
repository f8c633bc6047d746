/* See cdidirs.h.  Reads; follows no link; one bad file never hides a good one. */
#include "cdidirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../pure/cleanup.h"
#include "file.h"
#include "trust.h"

struct loading {
	struct cdi_registry *r;
	bool trusted;
	size_t dir;		/* the number of the one at hand */
	const char *path;	/* and its path */
	size_t bytes;		/* read so far */
	struct why *why;	/* of what ends the loading; empty for memory */
};

/*
 * What is wrong with a file is so for everyone, at any time.  What the host
 * could not read just now may be the one that counts: a device of it must not be
 * another's for the moment.
 */
static bool
is_passing(enum trust_found found, const struct why *why)
{
	return found == TRUST_REPLACED || (found == TRUST_FAILED && why->code != WHY_BUG);
}

static int
give_up(const struct loading *l, const struct why *why)
{
	return refuse(l->why, WHY_IO, "CDI specs: %s", why->text);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The reason without the path that stands before it: whoever prints it has said it. */
static const char *
without(const char *reason, const char *path)
{
	size_t n = strlen(path);

	if (strncmp(reason, path, n) != 0)
		return reason;
	return reason + n + strspn(reason + n, ": ");
}

/* Names of spec files, sorted.  -1: no memory; a directory that can't be listed is a problem. */
static int
list_names(struct loading *l, int dirfd, struct strlist *names)
{
	enum cdi_format format;
	struct dirent *e;
	struct stat st;
	char text[1200];
	DIR *d;
	int fd, saved, ret = 0;

	if ((fd = dup(dirfd)) == -1 || (d = fdopendir(fd)) == NULL) {
		saved = errno;
		if (fd != -1)
			close(fd);
		return refuse(l->why, WHY_IO, "CDI specs: %s: %s", l->path, strerror(saved));
	}
	while (ret == 0 && (errno = 0, e = readdir(d)) != NULL) {
		if (!cdi_format_of(e->d_name, &format) ||
		    (fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)))
			continue;
		if (names->n >= CDI_FILES_MAX) {
			snprintf(text, sizeof(text), "%s: more than %d files: the others are not read", l->path, CDI_FILES_MAX);
			ret = strlist_add(&l->r->problems, text, SIZE_MAX) ? 1 : -1;
		} else if (!strlist_add(names, e->d_name, SIZE_MAX))
			ret = -1;
	}
	if (ret == 0 && errno != 0)
		ret = refuse(l->why, WHY_IO, "CDI specs: %s: %s", l->path, strerror(errno));
	closedir(d);
	if (names->n > 1)
		qsort(names->v, names->n, sizeof(*names->v), by_text);
	return ret == -1 ? -1 : 0;
}

static int
read_file(struct loading *l, int dirfd, const char *name, struct cdi_file *v)
{
	enum trust_found found = TRUST_FAILED;
	struct why why = { 0 };
	unsigned i;

	/* one that is replaced is there again at once */
	for (i = 0; i < 3 && v->text == NULL && (i == 0 || why.code == WHY_AGAIN); i++)
		found = trust_find_text(dirfd, name, v->path, CDI_TEXT_MAX, l->trusted, &v->text, &v->len, &why);
	if (is_passing(found, &why))
		return give_up(l, &why);
	if (v->text == NULL)
		return why.code != WHY_BUG && strlist_add(&v->problems, without(why.text, v->path), SIZE_MAX) ? 0 : -1;
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
	return read_file(l, dirfd, name, v);
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
		return give_up(l, &why);
	if (found != TRUST_FOUND)
		return found == TRUST_ABSENT || (why.code != WHY_BUG && strlist_add(&l->r->problems, why.text, SIZE_MAX)) ? 0 : -1;
	if (list_names(l, fd, &names) == -1)
		return -1;
	for (i = 0; i < names.n; i++)
		if (load_file(l, fd, names.v[i]) == -1)
			return -1;
	return 0;
}

/* By name; of one name the directories and files in their order. */
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

/* Of each name the last entry stays, with what is to be said about the others. */
static int
resolve(struct cdi_registry *r)
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

/* What was read is known: the text is not needed any more. */
static void
settle(struct cdi_file *f, bool trusted)
{
	f->usable = f->usable && !(trusted && f->faults.unsafe > f->faults.unsafe_hooks);
	free(f->text);
	f->text = NULL;
}

int
cdi_registry_load(const char *dirs, bool trusted, cdi_parser *parse, struct cdi_registry *r, struct why *why)
{
	struct why stopped = { 0 };
	struct loading l = { .r = r, .trusted = trusted, .why = &stopped };
	size_t i;

	*r = (struct cdi_registry){ 0 };
	if (load_dirs(&l, dirs) == -1) {
		*why = stopped;
		return stopped.code != WHY_NONE ? -1 : refuse_nomem(why);
	}
	if (r->files > 0 && parse(r, why) == -1)
		return -1;
	for (i = 0; i < r->files; i++)
		settle(&r->file[i], trusted);
	return add_entries(r) == -1 || resolve(r) == -1 ? refuse_nomem(why) : 0;
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
