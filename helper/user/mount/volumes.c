/* See volumes.h. Assumes nothing about what is on the path. Opens each component before it looks at it. */
#include "volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../command/namespace.h"

#define LINKS_MAX 40	/* as many as the kernel follows */

/* The state of resolving a volume: the directory reached so far, and the rest of the path. */
struct walk {
	const char *volume;
	uid_t caller;
	int fd;			/* the directory; O_PATH */
	struct buf real;	/* its path without links; "" is "/" */
	char *rest;
	unsigned links;
};

/*
 * True if the file is the caller's and the caller is not the host's root. A user who redirects a path affects only
 * containers of that user.
 */
static bool
is_callers_own(const struct walk *w, const struct stat *st)
{
	return st->st_uid == w->caller && (w->caller != 0 || namespace_has_false_root());
}

/* «name» is an entry of the directory reached so far; NULL means that directory itself. */
static int
refuse_part(const struct walk *w, const char *name, const struct stat *st, struct why *why)
{
	return refuse(why, WHY_CONFIG, "%s does not count for containers of uid %u: others can change where it leads, because "
	    "%s%s%s belongs to uid %u and has mode %04o", w->volume, w->caller, w->real.p, name != NULL ? "/" : "",
	    name != NULL ? name : "", st->st_uid, st->st_mode & 07777U);
}

static int
check_directory(const struct walk *w, const char *name, const struct stat *st, struct why *why)
{
	if (is_callers_own(w, st))
		return 0;
	/* in a sticky directory, nobody else can rename files of root or of the caller */
	if (!trust_is_root(st->st_uid) || ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0 && (st->st_mode & S_ISVTX) == 0))
		return refuse_part(w, name, st, why);
	return 0;
}

static int
check_volume_link(const struct walk *w, const char *name, const struct stat *st, struct why *why)
{
	if (is_callers_own(w, st) || (trust_is_root(st->st_uid) && (!namespace_has_false_root() || *w->real.p == '\0')))
		return 0;
	return refuse_part(w, name, st, why);
}

static int
refuse_volume(const struct walk *w, int error, struct why *why)
{
	return refuse(why, error == ENOMEM ? WHY_AGAIN : WHY_IO, "%s: %s", w->volume, strerror(error));
}

/* Begins the walk at «/». False with errno. */
static bool
begin_at_top(struct walk *w)
{
	const int root = file_root();

	w->fd = root != -1 ? fcntl(root, F_DUPFD_CLOEXEC, 0) : -1;
	return w->fd != -1;
}

/* Puts the link's target in front of the rest of the path. */
static int
follow_volume_link(struct walk *w, int link, struct why *why)
{
	char target[4096], *rest;
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);

	if (n <= 0 || n == (ssize_t)sizeof(target) - 1 || ++w->links > LINKS_MAX)
		return refuse_volume(w, n == -1 ? errno : ELOOP, why);
	target[n] = '\0';
	if (asprintf(&rest, "%s/%s", target, w->rest) == -1)
		return refuse_nomem(why);
	free(w->rest);
	w->rest = rest;
	if (*target != '/')
		return 0;
	(void)close(w->fd);
	w->real.len = 0;
	buf_puts(&w->real, "");
	return begin_at_top(w) ? 0 : refuse_volume(w, errno, why);
}

/* Makes «next», the entry «name», the directory reached so far. */
static int
enter(struct walk *w, int next, const char *name, struct why *why)
{
	char *slash;

	(void)close(w->fd);
	w->fd = next;
	if (strcmp(name, "..") != 0) {
		buf_printf(&w->real, "/%s", name);
		return w->real.failed ? refuse_nomem(why) : 0;
	}
	if ((slash = strrchr(w->real.p, '/')) != NULL) {
		w->real.len = (size_t)(slash - w->real.p);
		*slash = '\0';
	}
	return 0;
}

static int
follow_name(struct walk *w, const char *name, struct why *why)
{
	autoclose int next = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int dir;

	if (next == -1 || fstat(next, &st) == -1)
		return refuse_volume(w, errno, why);
	if (S_ISLNK(st.st_mode))
		return check_volume_link(w, name, &st, why) == -1 ? -1 : follow_volume_link(w, next, why);
	if (!S_ISDIR(st.st_mode))
		return refuse_volume(w, ENOTDIR, why);
	if (check_directory(w, name, &st, why) == -1)
		return -1;
	dir = next;
	next = -1;
	return enter(w, dir, name, why);
}

/* Follows the rest of the path, one component after the other. */
static int
follow_rest(struct walk *w, struct why *why)
{
	for (;;) {
		autofree char *name = NULL;
		const char *from = w->rest + strspn(w->rest, "/");
		const size_t n = strcspn(from, "/");

		if (n == 0)
			return 0;
		if ((name = strndup(from, n)) == NULL)
			return refuse_nomem(why);
		memmove(w->rest, from + n, strlen(from + n) + 1);
		if (strcmp(name, ".") != 0 && follow_name(w, name, why) == -1)
			return -1;
	}
}

/*
 * Checks who owns the volume itself. In a namespace without the host's root, another user's directory looks like
 * root's.
 */
static int
check_owner(const struct walk *w, struct why *why)
{
	struct stat st;

	if (!namespace_has_false_root())
		return 0;
	if (fstat(w->fd, &st) == -1)
		return refuse_volume(w, errno, why);
	return is_callers_own(w, &st) ? 0 : refuse_part(w, NULL, &st, why);
}

int
volume_resolve(const char *volume, uid_t caller, char **real, struct why *why)
{
	struct walk w = { .volume = volume, .caller = caller, .fd = -1, .rest = strdup(volume) };
	struct stat st;
	int ret;

	*real = NULL;
	buf_puts(&w.real, "");
	if (w.rest == NULL || w.real.failed)
		ret = refuse_nomem(why);
	else if (!begin_at_top(&w) || fstat(w.fd, &st) == -1)
		ret = refuse_volume(&w, errno, why);
	else
		ret = check_directory(&w, "", &st, why) == -1 ||
	    follow_rest(&w, why) == -1 ||
	    check_owner(&w, why) == -1 ? -1 : 0;
	if (ret == 0)
		*real = *w.real.p != '\0' ? strdup(w.real.p) : strdup("/");
	if (w.fd != -1)
		(void)close(w.fd);
	free(w.rest);
	buf_free(&w.real);
	return ret == 0 && *real == NULL ? refuse_nomem(why) : ret;
}

bool
volumes_have(const struct settings *settings, const char *path, uid_t caller)
{
	struct why ignored;
	bool found = false;
	size_t i;

	for (i = 0; !found && i < settings->volumes.n; i++) {
		autofree char *real = NULL;

		found = volume_resolve(settings->volumes.v[i], caller, &real, &ignored) == 0 && path_is_beneath(path, real);
	}
	return found;
}
