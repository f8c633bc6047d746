/* See specfiles.h. Only reads, and follows no link. A bad file must never hide a good one. */
#include "specfiles.h"

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

/* The state of spec_files_read(). */
struct loading {
	struct spec_files *out;
	bool trusted;
	size_t dir;		/* the index of the directory at hand */
	const char *path;	/* and its path */
	size_t bytes;		/* read so far */
	struct why *why;	/* set if loading stops; empty if memory was short */
};

/* As cdi_format_of() (cdi/cdi.h). */
static bool
is_spec(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL && (strcmp(dot, ".json") == 0 || strcmp(dot, ".yaml") == 0);
}

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
	struct stat st;
	char text[1200];
	size_t i;

	if (listing_names(dup(dirfd), SIZE_MAX, &all) == -1)
		return errno == ENOMEM ? -1 : refuse(l->why, WHY_IO, "CDI specs: %s: %s", l->path, strerror(errno));
	for (i = 0; i < all.n; i++) {
		if (!is_spec(all.v[i]) ||
		    (fstatat(dirfd, all.v[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)))
			continue;
		if (names->n >= CDI_FILES_MAX) {
			snprintf(text, sizeof(text), "%s: more than %d files: the others are not read", l->path, CDI_FILES_MAX);
			return strlist_add(&l->out->problems, text, SIZE_MAX) ? 0 : -1;
		}
		if (!strlist_add(names, all.v[i], SIZE_MAX))
			return -1;
	}
	return 0;
}

static int
read_spec(struct loading *l, int dirfd, const char *name, struct spec_file *v)
{
	enum trust_found found = TRUST_FAILED;
	struct why why = { 0 };
	unsigned i;

	/* a file that is just being replaced is there again at once */
	for (i = 0; i < 3 && v->text == NULL && (i == 0 || why.code == WHY_AGAIN); i++)
		found = trust_find_text(dirfd, name, v->path, SPEC_TEXT_MAX, l->trusted, &v->text, &v->len, &why);
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
	struct spec_file *v = reallocarray(l->out->v, l->out->n + 1, sizeof(*v));

	if (v == NULL)
		return -1;
	l->out->v = v;
	v = &v[l->out->n];
	*v = (struct spec_file){ .dir = l->dir };
	if (asprintf(&v->path, "%s/%s", l->path, name) == -1)
		return -1;
	l->out->n++;
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
		return found == TRUST_ABSENT || (why.code != WHY_BUG && strlist_add(&l->out->problems, why.text, SIZE_MAX)) ? 0 : -1;
	if (list_specs(l, fd, &names) == -1)
		return -1;
	for (i = 0; i < names.n; i++)
		if (load_file(l, fd, names.v[i]) == -1)
			return -1;
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

int
spec_files_read(const char *dirs, bool trusted, struct spec_files *out, struct why *why)
{
	struct why stopped = { 0 };
	struct loading l = { .out = out, .trusted = trusted, .why = &stopped };

	*out = (struct spec_files){ .n = 0 };
	if (load_dirs(&l, dirs) == 0)
		return 0;
	*why = stopped;
	return stopped.code != WHY_NONE ? -1 : refuse_nomem(why);
}

void
spec_files_free(struct spec_files *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		free(f->v[i].path);
		free(f->v[i].text);
		strlist_free(&f->v[i].problems);
	}
	free(f->v);
	strlist_free(&f->problems);
	*f = (struct spec_files){ .n = 0 };
}
