/*
 * See createdpaths.h. Anyone may have written the image and the volumes. Must open nothing in them for reading or
 * writing, and must follow each link itself: the kernel would follow one in a volume to the host.
 */
#include "createdpaths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"

#define LINKS_MAX 40
#define LINK_MAX_BYTES 4096

/* A mount, and where its target lies after all links. */
struct mountpoint {
	char *at;		/* "/srv/data" */
	const char *source;	/* on the host; NULL: a new file system */
	bool granted;
	bool unknown;		/* an overlay or /proc, say: what is in it can't be seen from here */
};

struct view {
	const struct spec *s;
	int root;
	struct mountpoint *point;
	size_t n;
};

/* A path that is being followed. */
struct walk {
	const struct view *v;
	char *at;			/* the part that is behind us, without links */
	char *todo;			/* the rest */
	const struct mountpoint *in;	/* the mount that we are in; NULL: the image */
	int fd;				/* «at»; -1: it exists only as the runtime will make it */
	bool missing;			/* it does not exist, and no mount point makes it exist */
	bool link_unseen;			/* a link on the way could not be seen */
	unsigned links;
};

static void
walk_end(struct walk *w)
{
	free(w->at);
	free(w->todo);
	if (w->fd != -1)
		close(w->fd);
}

static void
enter_dir(struct walk *w, int fd)
{
	if (w->fd != -1)
		close(w->fd);
	w->fd = fd;
}

static int
back_to_root(struct walk *w, struct why *why)
{
	enter_dir(w, fcntl(w->v->root, F_DUPFD_CLOEXEC, 0));
	w->in = NULL;
	w->missing = false;
	w->at[0] = '\0';
	return w->fd != -1 ? 0 : refuse(why, WHY_AGAIN, "the root of the container: %s", strerror(errno));
}

static const struct mountpoint *
mountpoint_at(const struct view *v, const char *path)
{
	size_t i = v->n;

	while (i > 0)
		if (strcmp(v->point[--i].at, path) == 0)
			return &v->point[i];
	return NULL;
}

static bool
is_above_a_mountpoint(const struct view *v, const char *path)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (path_is_beneath(v->point[i].at, path))
			return true;
	return false;
}

/* Enters a mount. Refuses a source that can't be opened: the runtime could not mount it either. */
static int
enter(struct walk *w, const struct mountpoint *point, struct why *why)
{
	char source[PATH_MAX];
	int fd = -1;

	errno = ENAMETOOLONG;
	if (point->source != NULL && (!spec_host_path(w->v->s, point->source, source) ||
	    (fd = open(source, O_PATH | O_CLOEXEC)) == -1))
		return refuse(why, WHY_DATA, "the mount of %s at %s: %s", point->source, point->at, strerror(errno));
	enter_dir(w, fd);
	w->in = point;
	w->missing = false;
	return 0;
}

/* Puts what a link says before the rest of the path. */
static int
follow(struct walk *w, int link, struct why *why)
{
	char target[LINK_MAX_BYTES], *todo;
	const ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);

	if (n <= 0 || ++w->links > LINKS_MAX)
		return refuse(why, WHY_DATA, "%s in the container goes through links without end", w->at);
	target[n] = '\0';
	if (asprintf(&todo, "%s/%s", target, w->todo) == -1)
		return refuse_nomem(why);
	free(w->todo);
	w->todo = todo;
	return *target == '/' ? back_to_root(w, why) : 0;
}

static int
go_up(struct walk *w, struct why *why)
{
	char *todo, *last = strrchr(w->at, '/');

	if (last != NULL)
		*last = '\0';
	if (asprintf(&todo, "%s/%s", w->at, w->todo) == -1)
		return refuse_nomem(why);
	free(w->todo);
	w->todo = todo;
	return ++w->links > LINKS_MAX ? refuse(why, WHY_DATA, "%s in the container goes up without end", w->at) :
	    back_to_root(w, why);
}

/* Takes the step to «path», which has this last component and is no mount point. */
static int
step_to(struct walk *w, const char *name, char *path, struct why *why)
{
	int fd = w->fd != -1 ? openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
	struct stat st;
	int ret;

	if (fd == -1 && w->fd != -1 && errno != ENOENT && errno != ENOTDIR) {
		ret = refuse(why, WHY_DATA, "%s in the container can't be followed: %s", path, strerror(errno));
		free(path);
		return ret;
	}
	/* a runtime makes /dev/fd, a link into /proc, before it makes anything else that is checked here */
	w->link_unseen = w->link_unseen || (w->in != NULL && w->in->unknown) || strcmp(path, "/dev/fd") == 0;
	if (fd != -1 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
		ret = follow(w, fd, why);
		close(fd);
		free(path);
		return ret;
	}
	enter_dir(w, fd);
	w->missing = fd == -1 && !is_above_a_mountpoint(w->v, path);
	free(w->at);
	w->at = path;
	return 0;
}

static int
take_step(struct walk *w, const char *name, struct why *why)
{
	const struct mountpoint *point;
	char *path;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0)
		return go_up(w, why);
	if (asprintf(&path, "%s/%s", w->at, name) == -1)
		return refuse_nomem(why);
	if ((point = mountpoint_at(w->v, path)) != NULL) {
		free(w->at);
		w->at = path;
		return enter(w, point, why);
	}
	return step_to(w, name, path, why);
}

/* Follows a path to its end. walk_end() in any case. */
static int
walk_path(const struct view *v, const char *path, struct walk *w, struct why *why)
{
	char *name, *rest;
	int ret;

	*w = (struct walk){ .v = v, .at = strdup(""), .todo = strdup(path), .fd = -1 };
	if (w->at == NULL || w->todo == NULL)
		return refuse_nomem(why);
	for (ret = back_to_root(w, why); ret == 0 && w->todo[strspn(w->todo, "/")] != '\0';) {
		rest = w->todo + strspn(w->todo, "/");
		if ((name = strndup(rest, strcspn(rest, "/"))) == NULL)
			return refuse_nomem(why);
		memmove(w->todo, rest + strlen(name), strlen(rest + strlen(name)) + 1);
		ret = take_step(w, name, why);
		free(name);
	}
	return ret;
}

/* Forgets the mounts that one at this path hides. */
static void
drop_hidden(struct view *v, const char *path)
{
	size_t i, kept = 0;

	for (i = 0; i < v->n; i++)
		if (path_is_beneath(v->point[i].at, path))
			free(v->point[i].at);
		else
			v->point[kept++] = v->point[i];
	v->n = kept;
}

static int
add_mountpoint(struct view *v, const char *target, struct mountpoint point, struct why *why)
{
	struct walk w;
	int ret;

	if ((ret = walk_path(v, target, &w, why)) == 0) {
		drop_hidden(v, w.at);
		point.at = w.at;
		w.at = NULL;
		v->point[v->n++] = point;
	}
	walk_end(&w);
	return ret;
}

/* In /proc, links such as /proc/self/root lead back to the container's mounts. */
static bool
is_seen(const struct spec_mount *m)
{
	return m->bind || (spec_mount_is_new(m) && strcmp(m->type, "proc") != 0);
}

/* Adds a mount, unless it shows what was there before it (runc's and crun's tmpcopyup). */
static int
add_mount_of(struct view *v, const struct spec_mount *m, struct why *why)
{
	struct mountpoint point = { .source = m->bind ? m->source : NULL, .granted = m->duplicate,
		.unknown = !is_seen(m) };

	return m->only_gpus || strlist_has(&m->options, "tmpcopyup") ? 0 : add_mountpoint(v, m->target, point, why);
}

static int
fill_view(struct view *v, const struct edits *e, struct why *why)
{
	size_t i;

	if ((v->point = calloc(v->s->mount_count + e->mounts + 1, sizeof(*v->point))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < v->s->mount_count; i++)
		if (add_mount_of(v, &v->s->mount[i], why) == -1)
			return -1;
	for (i = 0; i < e->mounts; i++)
		if (!e->mount[i].linked && add_mountpoint(v, e->mount[i].target,
		    (struct mountpoint){ .source = e->mount[i].source, .granted = true }, why) == -1)
			return -1;
	return 0;
}

/*
 * Refuses a container if the runtime would make this directory in a granted folder, or with «in_it», if it would make
 * anything there. The message calls what it would make «what» «name».
 */
static int
check_dir(const struct view *v, const char *dir, const char *what, const char *name, bool in_it, struct why *why)
{
	struct walk w;
	int ret;

	if ((ret = walk_path(v, dir, &w, why)) == 0 && w.in != NULL && w.in->granted && (w.missing || in_it))
		ret = refuse(why, WHY_DENIED, "%s %s of the container: the runtime would make it in the granted %s, on the host: "
		    "choose another place%s", what, name, w.in->at, in_it ? "" : ", or a directory that exists there");
	else if (ret == 0 && w.link_unseen)
		ret = refuse(why, WHY_DENIED, "%s %s of the container: links in %s, which can't be seen before it runs, could "
		    "lead it to a granted folder: choose another place", what, name, w.in != NULL ? w.in->at : "it");
	walk_end(&w);
	return ret;
}

/* mkdir(2) for each part of process.cwd, as it is written: «..» is taken back only afterwards. */
static int
check_cwd(const struct view *v, const char *cwd, struct why *why)
{
	autofree char *part = strdup(cwd);
	char *slash;
	int ret = 0;

	if (part == NULL)
		return refuse_nomem(why);
	for (slash = strchr(part, '/'); ret == 0 && slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ret = check_dir(v, part, "the working directory", cwd, false, why);
		*slash = '/';
	}
	return ret == 0 ? check_dir(v, part, "the working directory", cwd, false, why) : -1;
}

/* In a user namespace crun makes a file at the device's path, and follows a link there. */
static int
check_device(const struct view *v, const char *path, struct why *why)
{
	autofree char *dir = strndup(path, (size_t)(path_last(path) - path));

	if (dir == NULL)
		return refuse_nomem(why);
	return check_dir(v, dir, "the device", path, true, why) == -1 ? -1 : check_dir(v, path, "the device", path, true, why);
}

/* True for a device directly in /dev, where the default devices are made, too: one scan is enough for all of them. */
static bool
is_in_dev(const struct spec_device *d)
{
	return text_starts(d->path, "/dev/") && strchr(d->path + strlen("/dev/"), '/') == NULL;
}

static int
check_made(const struct view *v, struct why *why)
{
	const struct spec *s = v->s;
	size_t i;

	if (s->cwd != NULL && check_cwd(v, s->cwd, why) == -1)
		return -1;
	if (check_device(v, "/dev/null", why) == -1)
		return -1;
	for (i = 0; i < s->device_count; i++)
		if (!is_in_dev(&s->device[i]) && check_device(v, s->device[i].path, why) == -1)
			return -1;
	return 0;
}

/* True if a link of the image, or one behind that in a volume, can lead what is made in /dev elsewhere. */
static bool
dev_is_link(int root)
{
	struct stat st;

	return fstatat(root, "dev", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* False for Concourse's ordinary containers, whose mounts need not be followed. */
static bool
makes_elsewhere(const struct spec *s, int root)
{
	size_t i;

	for (i = 0; i < s->device_count; i++)
		if (!is_in_dev(&s->device[i]))
			return true;
	return (s->cwd != NULL && strcmp(s->cwd, "/") != 0) || dev_is_link(root);
}

int
created_paths_check(const struct spec *s, int root, const struct edits *e, struct why *why)
{
	struct view v = { .s = s, .root = root };
	size_t i;
	int ret;

	if (e->mounts == 0 || !makes_elsewhere(s, root))
		return 0;
	ret = fill_view(&v, e, why) == -1 ? -1 : check_made(&v, why);
	for (i = 0; i < v.n; i++)
		free(v.point[i].at);
	free(v.point);
	return ret;
}
