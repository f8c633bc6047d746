/* See cdisource.h. Uses only lstat(2) and readlink(2), so that looking has no effect on a device. */
#include "cdisource.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/path.h"
#include "../../base/pathshort.h"

void
cdi_walk_visit(struct cdi_walk *w, const char *path, const struct stat *st)
{
	if (w->loose || (st->st_uid == 0 && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0))
		return;
	w->loose = true;
	snprintf(w->who, sizeof(w->who), "%s", path);
}

/*
 * True if the sticky bit keeps a group from replacing this directory of root's, although the group can make files
 * beside the directory. NixOS has such a place for its packages: /nix/store, mode 1775. Not true for another file
 * system, because a user's may show any owner (FUSE); for a link or a file, because a user may have moved or linked
 * one of root's to there; and where everybody may write, because such places are cleaned (/tmp).
 */
static bool
is_kept_in(const struct stat *dir, const struct stat *st)
{
	return dir->st_uid == 0 && (dir->st_mode & (S_ISVTX | S_IWOTH)) == S_ISVTX && S_ISDIR(st->st_mode) &&
	    st->st_uid == 0 && st->st_dev == dir->st_dev;
}

/*
 * Replaces a link by its target. An absolute target starts again at the root, a relative one where the link
 * is.
 */
static int
follow_link(struct cdi_walk *w, const char *link)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n == -1)
		return -1;
	target[n] = '\0';
	if ((size_t)snprintf(rest, sizeof(rest), "%s/%s", target, w->rest) >= sizeof(rest)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(w->rest, rest, sizeof(rest));
	if (target[0] == '/')
		w->done[0] = '\0';
	return 0;
}

/* Gets the status of the directory seen last, because *st is that of the link, whose mode says nothing. */
static int
look_back(const struct cdi_walk *w, struct stat *st, struct why *why)
{
	const char *path = w->done[0] != '\0' ? w->done : "/";

	return lstat(path, st) == 0 ? 0 : refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
}

int
cdi_walk(struct cdi_walk *w, const char *path, struct stat *st, struct why *why)
{
	char part[NAME_MAX + 1], next[PATH_MAX], *slash;
	unsigned links = 0;
	struct stat dir;
	size_t n;

	w->done[0] = '\0';
	if ((size_t)snprintf(w->rest, sizeof(w->rest), "%s", path) >= sizeof(w->rest))
		return refuse(why, WHY_DATA, "%s", strerror(ENAMETOOLONG));
	if (lstat("/", st) == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	for (;;) {
		memmove(w->rest, w->rest + strspn(w->rest, "/"), strlen(w->rest + strspn(w->rest, "/")) + 1);
		if ((n = strcspn(w->rest, "/")) == 0)
			return 0;
		dir = *st;
		if (n >= sizeof(part))
			return refuse(why, WHY_DATA, "%s", strerror(ENAMETOOLONG));
		memcpy(part, w->rest, n);
		part[n] = '\0';
		memmove(w->rest, w->rest + n, strlen(w->rest + n) + 1);
		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0) {
			cdi_walk_visit(w, w->done[0] != '\0' ? w->done : "/", &dir);
			if ((slash = strrchr(w->done, '/')) != NULL)
				*slash = '\0';
			if (look_back(w, st, why) == -1)
				return -1;
			continue;
		}
		if ((size_t)snprintf(next, sizeof(next), "%s/%s", w->done, part) >= sizeof(next))
			return refuse(why, WHY_DATA, "%s", strerror(ENAMETOOLONG));
		if (lstat(next, st) == -1)
			return refuse(why, WHY_ABSENT, "%s", errno == ENOENT ? "is not there" : strerror(errno));
		if (!is_kept_in(&dir, st))
			cdi_walk_visit(w, w->done[0] != '\0' ? w->done : "/", &dir);
		if (!S_ISLNK(st->st_mode)) {
			memcpy(w->done, next, sizeof(next));
			continue;
		}
		if (w->rest[strspn(w->rest, "/")] == '\0')
			return 0;	/* links are followed only on the way */
		if (w->loose)
			return refuse(why, WHY_DATA, "the link %s is in %s, which others than root can change", next, w->who);
		if (++links > 40 || follow_link(w, next) == -1)
			return refuse(why, WHY_DATA, "%s: %s", next, links > 40 ? strerror(ELOOP) : strerror(errno));
		if (look_back(w, st, why) == -1)
			return -1;
	}
}

bool
cdi_walk_into(struct cdi_walk *w, const char *path, struct stat *st)
{
	char in[PATH_MAX];
	struct why why;

	return (size_t)snprintf(in, sizeof(in), "%s/.", path) < sizeof(in) && cdi_walk(w, in, st, &why) == 0 &&
	    S_ISDIR(st->st_mode);
}

int
cdi_find_source(const char *path, char *real, struct stat *st, bool *roots, struct why *why)
{
	static struct cdi_walk w;
	char shown[PATH_SHOWN];
	struct why inner;

	w.loose = false;
	if (path_check(path, why) == -1)
		return -1;
	if (cdi_walk(&w, path, st, &inner) == -1)
		return refuse(why, inner.code, "%s %s", path_short(path, shown, sizeof(shown)), inner.text);
	if (S_ISLNK(st->st_mode) && !cdi_walk_into(&w, path, st))
		return refuse(why, WHY_DATA, "%s is a symbolic link", path_short(path, shown, sizeof(shown)));
	cdi_walk_visit(&w, path, st);
	*roots = !w.loose;
	memcpy(real, w.done[0] != '\0' ? w.done : "/", w.done[0] != '\0' ? strlen(w.done) + 1 : 2);
	return 0;
}
