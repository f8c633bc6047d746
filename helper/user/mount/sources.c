/*
 * See sources.h. Runs with the caller's rights, and only reads. Follows a source name by name, as the kernel does.
 * Checking where a source ends is not enough: it may pass /proc/PID or root.path, which lead elsewhere when the
 * runtime mounts.
 */
#include "sources.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/pathclean.h"
#include "../../lease/leasetasks.h"

#define PROC_MAGIC 0x9fa0
#define PROC_TOP 1		/* the inode of /proc itself */
#define LINKS_MAX 40		/* the kernel's limit */

/* A path that is followed name by name. */
struct walk {
	const char *root;	/* root.path, absolute and without links; NULL if it can't be resolved */
	char at[PATH_MAX];	/* the path that was reached, without links; "" is "/" */
	char rest[PATH_MAX];	/* the names that are still to be followed */
	unsigned links;
};

enum reached { HERE, GONE, OF_PROCESS, IN_ROOT };		/* GONE: with errno */

/* True for a process's directory, and for a link in one, which leads to something that the process has open. */
static bool
is_of_process(const char *dir, const char *name, bool is_link)
{
	bool names_one = strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0 ||
	    name[strspn(name, "0123456789")] == '\0';
	struct statfs fs;
	struct stat st;

	if (*dir == '\0' || !(names_one || is_link) || statfs(dir, &fs) == -1 || fs.f_type != PROC_MAGIC ||
	    lstat(dir, &st) == -1)
		return false;
	return st.st_ino == PROC_TOP ? names_one : is_link;
}

static enum reached
follow_source_link(struct walk *w, size_t dir_len)
{
	char link[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlink(w->at, link, sizeof(link) - 1);

	if (n == -1)
		return GONE;
	link[n] = '\0';
	errno = ++w->links > LINKS_MAX ? ELOOP : ENAMETOOLONG;
	if (w->links > LINKS_MAX || snprintf(rest, sizeof(rest), "%s/%s", link, w->rest) >= (int)sizeof(rest))
		return GONE;
	memcpy(w->rest, rest, sizeof(rest));
	w->at[link[0] == '/' ? 0 : dir_len] = '\0';
	return HERE;
}

static enum reached
step(struct walk *w, const char *name)
{
	const size_t len = strlen(w->at);
	struct stat st;

	if (is_of_process(w->at, name, false))
		return OF_PROCESS;
	if (snprintf(w->at + len, sizeof(w->at) - len, "/%s", name) >= (int)(sizeof(w->at) - len)) {
		errno = ENAMETOOLONG;
		return GONE;
	}
	if (lstat(w->at, &st) == -1)
		return GONE;
	if (!S_ISLNK(st.st_mode))
		return w->root != NULL && strcmp(w->at, w->root) == 0 ? IN_ROOT : HERE;
	w->at[len] = '\0';
	if (is_of_process(w->at, name, true))
		return OF_PROCESS;
	w->at[len] = '/';
	return follow_source_link(w, len);
}

/* True if a name of the path is "." or "..", or may be a process's directory. */
static bool
has_removed_name(const char *path)
{
	size_t n;

	for (path += strspn(path, "/"); *path != '\0'; path += n, path += strspn(path, "/")) {
		n = strcspn(path, "/");
		if (strspn(path, "0123456789") >= n || (n <= 2 && strspn(path, ".") >= n) ||
		    (n == strlen("self") && strncmp(path, "self", n) == 0) ||
		    (n == strlen("thread-self") && strncmp(path, "thread-self", n) == 0))
			return true;
	}
	return false;
}

/*
 * Follows w->rest with one system call, which works if no name in it is a link or may be a process's directory.
 * Returns false if the path must be followed name by name.
 */
static bool
goes_straight(struct walk *w)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	autofree char *clean = w->at[0] == '\0' && !has_removed_name(w->rest) ? path_cleaned(w->rest) : NULL;
	int fd = clean != NULL ? (int)syscall(SYS_openat2, AT_FDCWD, clean, &how, sizeof(how)) : -1;

	if (fd == -1 || strlen(clean) >= sizeof(w->at)) {
		if (fd != -1)
			close(fd);
		return false;
	}
	close(fd);
	snprintf(w->at, sizeof(w->at), "%s", clean);
	return true;
}

/* Follows w->rest to its end, from w->at on. */
static enum reached
walk(struct walk *w)
{
	enum reached p = w->root != NULL && strcmp(w->root, "/") == 0 ? IN_ROOT : HERE;
	char name[PATH_MAX], *last;
	size_t slashes, n;

	while (p == HERE && w->rest[slashes = strspn(w->rest, "/")] != '\0') {
		n = strcspn(w->rest + slashes, "/");
		snprintf(name, sizeof(name), "%.*s", (int)n, w->rest + slashes);
		memmove(w->rest, w->rest + slashes + n, strlen(w->rest + slashes + n) + 1);
		if (strcmp(name, "..") == 0) {
			if ((last = strrchr(w->at, '/')) != NULL)
				*last = '\0';
		} else if (strcmp(name, ".") != 0)
			p = step(w, name);
	}
	return p;
}

/* Follows a path. A relative one begins in the bundle. */
static enum reached
resolve(const struct spec *s, const char *root, const char *path, struct walk *w)
{
	w->root = root;
	w->links = 0;
	w->at[0] = '\0';
	if (path[0] != '/' && realpath(s->bundle != NULL ? s->bundle : ".", w->at) == NULL)
		return GONE;
	if (strcmp(w->at, "/") == 0)
		w->at[0] = '\0';
	if (snprintf(w->rest, sizeof(w->rest), "%s", path) >= (int)sizeof(w->rest)) {
		errno = ENAMETOOLONG;
		return GONE;
	}
	if (goes_straight(w))
		return root != NULL && path_at_or_beneath(w->at, root) ? IN_ROOT : HERE;
	return walk(w);
}

/* gpuhelper's directories on the host and all directories above them, by inode, so that a bind mount hides none. */
#define OURS_MAX 24

struct ours {
	struct file_id at[OURS_MAX];
	size_t n;
};

static const char *const our_dirs[] = { GPUHELPER_RUNDIR, GPUHELPER_CONFDIR, GPUHELPER_STATEDIR, GPUHELPER_LOGDIR };
#define OUR_DIRS (sizeof(our_dirs) / sizeof(our_dirs[0]))

static struct file_id
id_of(const struct stat *st)
{
	return (struct file_id){ major(st->st_dev), minor(st->st_dev), st->st_ino };
}

static bool
has_id(const struct ours *o, const struct file_id *id)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (file_id_same(&o->at[i], id))
			return true;
	return false;
}

/* Adds a directory that exists. Returns false if the list is full. */
static bool
add_own_dir(struct ours *o, const char *path)
{
	struct file_id id;
	struct stat st;

	if (stat(path, &st) == -1)
		return true;
	id = id_of(&st);
	if (has_id(o, &id))
		return true;
	if (o->n == OURS_MAX)
		return false;
	o->at[o->n++] = id;
	return true;
}

/* Called once for all mounts, because a container may have a thousand. Returns false if the list is full. */
static bool
find_ours(struct ours *o)
{
	char walk[256];
	size_t i;

	o->n = 0;
	for (i = 0; i < OUR_DIRS; i++) {
		snprintf(walk, sizeof(walk), "%s", our_dirs[i]);
		for (; *walk != '\0'; *strrchr(walk, '/') = '\0')
			if (!add_own_dir(o, walk))
				return false;
	}
	return add_own_dir(o, "/");
}

/* True if this path of the host is one of gpuhelper's directories, or above or beneath one. */
static bool
is_own_dir(const struct ours *o, const char *path)
{
	struct file_id id;
	struct stat st;
	size_t i;

	for (i = 0; i < OUR_DIRS; i++)
		if (path_related(path, our_dirs[i]))
			return true;
	if (stat(path, &st) == -1)
		return false;
	id = id_of(&st);
	return has_id(o, &id);
}

/* True if is_own_dir() is true of a source or of the path to which it led. Mostly the two are the same path. */
static bool
brings_ours(const struct ours *o, const char *source, const char *led)
{
	return (source[0] == '/' && is_own_dir(o, source)) ||
	    (led != NULL && strcmp(led, source) != 0 && is_own_dir(o, *led != '\0' ? led : "/"));
}

/* The data against which the sources of one container's mounts are checked. */
struct checking {
	const struct spec *spec;
	const char *root;		/* root.path, absolute and without links; NULL if it can't be resolved */
	struct ours ours;
};

static bool
climbs(const char *path)
{
	size_t n;

	for (; *path != '\0'; path += n, path += strspn(path, "/"))
		if ((n = strcspn(path, "/")) == 2 && strncmp(path, "..", n) == 0)
			return true;
	return false;
}

static int
check_source(const struct checking *c, const char *source, const char *target, bool needed, struct why *why)
{
	struct walk w;
	enum reached p;
	int error;

	if (source[0] != '/' && climbs(source))
		return refuse(why, WHY_DENIED, "the mount of %s at %s: a source may not lead out of the bundle by \"..\"",
		    source, target);
	p = resolve(c->spec, c->root, source, &w);
	error = errno;
	if (p == OF_PROCESS)
		return refuse(why, WHY_DENIED, "the mount of %.200s at %.200s: a source may not lead through a process's own "
		    "directory in /proc: name the place itself", source, target);
	if (p == IN_ROOT)
		return refuse(why, WHY_DENIED, "the mount of %.200s at %.200s: a source may not lead through root.path, where this "
		    "container's other mounts will be: take it from elsewhere", source, target);
	if (brings_ours(&c->ours, source, p == HERE ? w.at : NULL))
		return refuse(why, WHY_DENIED, "the mount of %s at %s would bring gpuhelper's settings, state or log ("
		    GPUHELPER_CONFDIR ", " GPUHELPER_RUNDIR ", " GPUHELPER_STATEDIR ", " GPUHELPER_LOGDIR ") into the container",
		    source, target);
	/* a source that can't be checked now may exist when the runtime mounts it; without root, EACCES is normal */
	if (p == GONE && needed && (error != EACCES || geteuid() == 0))
		return refuse(why, WHY_DATA, "the mount of %.200s at %.200s: its source can't be followed: %s: make it, or leave "
		    "the mount out", source, target, strerror(error));
	return 0;
}

/*
 * Sources of an overlay («lowerdir=/a:/b,upperdir=/c») count as well. The kernel removes backslashes
 * (ovl_unescape()).
 */
static int
check_overlay(const struct checking *c, const char *option, const char *target, struct why *why)
{
	autofree char *piece = malloc(strlen(option) + 1);
	bool value = false, is_source = false;
	const char *p;
	size_t o = 0;

	if (piece == NULL)
		return refuse_nomem(why);
	for (p = option;; p++) {
		if (*p == '\\' && p[1] != '\0') {
			piece[o++] = *++p;
			continue;
		}
		if (*p != '\0' && *p != ',' && *p != (value ? ':' : '=')) {
			piece[o++] = *p;
			continue;
		}
		piece[o] = '\0';
		if (!value)
			is_source = text_starts(piece, "lowerdir") || text_starts(piece, "upperdir") ||
			    text_starts(piece, "workdir") || text_starts(piece, "datadir");
		else if (is_source && o > 0 && check_source(c, piece, target, false, why) == -1)
			return -1;
		if (*p == '\0')
			return 0;
		value = *p != ',';
		o = 0;
	}
}

/* True if links themselves are mounted (crun). */
static bool
is_not_followed(const struct spec_mount *m)
{
	return strlist_has(&m->options, "copy-symlink") || strlist_has(&m->options, "src-nofollow");
}

/* In a user namespace, a runtime binds the host's node at a device's path. */
static int
check_devices(const struct spec *s, const char *root, struct why *why)
{
	struct walk w;
	enum reached p;
	size_t i;

	for (i = 0; i < s->device_count; i++)
		if ((p = resolve(s, root, s->device[i].path, &w)) == OF_PROCESS || p == IN_ROOT)
			return refuse(why, WHY_DENIED, "linux.devices: the path %.200s may not lead through %s on the host",
			    s->device[i].path, p == IN_ROOT ? "root.path" : "a process's own directory in /proc");
	return 0;
}

int
sources_check(const struct spec *s, struct why *why)
{
	char given[PATH_MAX], real[PATH_MAX];
	const char *root = s->root_path != NULL && spec_host_path(s, s->root_path, given) ? realpath(given, real) : NULL;
	struct checking c = { .spec = s, .root = root };
	const struct spec_mount *m;
	size_t i, k;

	if (!find_ours(&c.ours))
		return refuse(why, WHY_BUG, GPUHELPER_CONFDIR ", " GPUHELPER_RUNDIR " or " GPUHELPER_STATEDIR " lies too deep");
	for (i = 0; i < s->mount_count; i++) {
		m = &s->mount[i];
		if (m->bind && m->source != NULL &&
		    check_source(&c, m->source, m->target, !is_not_followed(m), why) == -1)
			return -1;
		for (k = 0; k < m->options.n; k++)
			if (check_overlay(&c, m->options.v[k], m->target, why) == -1)
				return -1;
	}
	return check_devices(s, root, why);
}
