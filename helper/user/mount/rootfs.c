/*
 * See rootfs.h. Anyone may have written the image. Must follow its links only inside of it (RESOLVE_IN_ROOT),
 * and open nothing in it for reading or writing.
 */
#include "rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../host/folder/mounts.h"
#include "../../host/rootfile.h"
#include "../../host/trust.h"
#include "volumes.h"
#include "writablemounts.h"

static bool
lies_beneath(const char *path, const char *dir)
{
	autofree char *real = realpath(dir, NULL);

	return real != NULL && path_is_beneath(path, real);
}

/* True for a path without links that is beneath a volume, whoever can change where that volume leads. */
static bool
is_beneath_any_volume(const char *path, const struct settings *settings)
{
	bool found = false;
	size_t i;

	for (i = 0; !found && i < settings->volumes.n; i++)
		found = lies_beneath(path, settings->volumes.v[i]);
	return found;
}

/* A root filesystem, for finding a mount that shows it beneath a volume. */
struct root_search {
	const struct settings *settings;
	uid_t caller;
	const struct stat *root;
	const char *fs, *fs_path;		/* mounts.h */
};

/* True if this mount shows the same directory beneath a volume. */
static bool
shows_root(void *ctx, struct mount *m)
{
	const struct root_search *o = ctx;
	autofree char *path = NULL;
	const char *rest;
	struct stat st;

	if (strcmp(m->fs, o->fs) != 0 || !path_at_or_beneath(o->fs_path, m->root))
		return false;
	rest = strcmp(m->root, "/") == 0 ? o->fs_path : o->fs_path + strlen(m->root);
	if (asprintf(&path, "%s%s", strcmp(m->point, "/") == 0 ? "" : m->point, strcmp(rest, "/") == 0 ? "" : rest) == -1)
		path = NULL;
	return path != NULL && volumes_have(o->settings, path, o->caller) && lstat(path, &st) == 0 &&
	    st.st_dev == o->root->st_dev && st.st_ino == o->root->st_ino;
}

/*
 * podman 5 mounts a root filesystem of its storage a second time, in /var/tmp, where a user namespace can
 * reach it. Such a mount counts as the directory that it shows.
 */
static bool
comes_from_volume(int fd, const char *path, const struct settings *settings, uid_t caller)
{
	automounts struct mount_table *mounts = mounts_read();
	autofree char *fs = NULL, *fs_path = NULL;
	struct stat st;
	struct root_search o = { .settings = settings, .caller = caller, .root = &st };

	if (fstat(fd, &st) == -1 || !mounts_fs_path(mounts, fd, path, &fs, &fs_path))
		return false;
	o.fs = fs;
	o.fs_path = fs_path;
	return mounts_own(shows_root, &o) == 1;
}

bool
rootfs_is_in_volumes(const char *path, const struct settings *settings)
{
	autofree char *real = realpath(path, NULL);

	return real == NULL || is_beneath_any_volume(real, settings);
}

bool
rootfs_may_lie_in(const char *dir, const struct settings *settings, uid_t caller)
{
	autofree char *real = realpath(dir, NULL), *inside = NULL;

	/* the name need not exist */
	return real != NULL && asprintf(&inside, "%s/x", strcmp(real, "/") != 0 ? real : "") != -1 &&
	    volumes_have(settings, inside, caller);
}

int
rootfs_open(const struct spec *s, const char *bundle, const struct settings *settings, uid_t caller, int *fd,
    char **path, struct why *why)
{
	autofree char *given = NULL;

	*fd = -1;
	*path = NULL;
	if (s->root_path == NULL || *s->root_path == '\0')
		return refuse(why, WHY_DATA, "config.json: root.path is missing");
	if (s->root_path[0] == '/')
		given = strdup(s->root_path);
	else if (asprintf(&given, "%s/%s", bundle, s->root_path) == -1)
		given = NULL;
	if (given == NULL)
		return refuse_nomem(why);
	if ((*path = realpath(given, NULL)) == NULL)
		return refuse(why, WHY_DATA, "config.json: root.path %s: %s", given, strerror(errno));
	if ((*fd = open(*path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return refuse(why, WHY_DATA, "root.path %s: %s", *path, strerror(errno));
	if (path_is_beneath(*path, bundle) || volumes_have(settings, *path, caller) ||
	    comes_from_volume(*fd, *path, settings, caller))
		return 0;
	/* do not list the volumes: a task's author should not learn which directories the engine uses */
	return refuse(why, WHY_DENIED, "root.path %s is not beneath the bundle or one of the volumes in gpuhelper.conf",
	    *path);
}

/* True if only root and the caller can rename entries of the directory. */
static bool
is_guarded_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && (trust_is_root(st.st_uid) || st.st_uid == geteuid()) &&
	    ((st.st_mode & 022) == 0 || (st.st_mode & S_ISVTX) != 0);
}

bool
rootfs_is_guarded(const struct spec *s, const char *bundle, const char *path)
{
	const char *given = s->root_path;
	autofree char *above = strdup(path);
	char *slash;

	/*
	 * a path that leads there through links or «..» has more directories on the way than are checked here
	 */
	if (given[0] != '/') {
		if (strncmp(path, bundle, strlen(bundle)) != 0 || path[strlen(bundle)] != '/')
			return false;
		path += strlen(bundle) + 1;
	}
	if (above == NULL || strcmp(given, path) != 0)
		return false;
	while ((slash = strrchr(above, '/')) != NULL) {
		slash[slash == above] = '\0';
		if (!is_guarded_dir(above))
			return false;
		if (above[1] == '\0')
			return true;
	}
	return false;
}

/* True if «mount» is the mount of a volume that the path is in, and that counts for this process's user. */
static bool
is_mount_of_volumes(uint64_t mount, const char *path, const struct settings *settings)
{
	struct why ignored;
	uint64_t other;
	size_t i;

	for (i = 0; i < settings->volumes.n; i++) {
		autofree char *real = NULL;
		autoclose int fd = -1;

		if (volume_resolve(settings->volumes.v[i], geteuid(), &real, &ignored) == -1 || !path_is_beneath(path, real))
			continue;
		fd = open(real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd != -1 && mount_of(fd, &other) && other == mount)
			return true;
	}
	return false;
}

/* Opens the directory above the path, and gets its path, which the caller frees in any case. -1: it can't be opened. */
static int
open_above(const char *path, char **above)
{
	*above = path_parent(path);
	return *above != NULL ? open(*above, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

bool
rootfs_may_be_written_above(const char *path, const struct settings *settings)
{
	autofree char *above = NULL;
	autoclose int root = -1, parent = -1;
	uint64_t mount, around;

	if (!is_beneath_any_volume(path, settings))
		return false;
	root = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	parent = open_above(path, &above);
	if (root == -1 || parent == -1 || !mount_of(root, &mount) || !mount_of(parent, &around))
		return true;
	return mount == around || !is_mount_of_volumes(around, path, settings);
}

bool
rootfs_is_written_above(const char *path, const struct settings *settings)
{
	autofree char *above = NULL;
	autoclose int parent = -1;

	if (!rootfs_may_be_written_above(path, settings))
		return false;
	return (parent = open_above(path, &above)) == -1 || container_writes_in(parent, above);
}

/*
 * Opens the longest existing part of «path» in the root. *inside gets its path as the root sees it, which the
 * caller frees, and *rest points to the remaining part of «path».
 */
static int
resolve_part(int root, const char *rootpath, const char *path, int *fd, char **inside, const char **rest,
    struct why *why)
{
	autofree char *part = strdup(path);
	char link[FILE_LINK_MAX], real[4352];
	size_t len;
	ssize_t n;

	if (part == NULL)
		return refuse_nomem(why);
	for (len = strlen(part);; part[len] = '\0') {
		if ((*fd = rootfile_open(root, len > 0 ? part : "/", O_PATH, NULL)) != -1)
			break;
		if (errno != ENOENT && errno != ENOTDIR)
			return refuse(why, WHY_DATA, "%s in the container can't be followed: %s", path, strerror(errno));
		while (len > 0 && part[--len] != '/')
			;
	}
	n = readlink(file_link(*fd, link), real, sizeof(real) - 1);
	real[n > 0 ? n : 0] = '\0';
	if (n <= 0 || !path_at_or_beneath(real, rootpath)) {
		close(*fd);
		return refuse(why, WHY_DATA, "%s in the container leads out of its root", path);
	}
	*rest = path + len;
	*inside = strdup(real + (strcmp(rootpath, "/") == 0 ? 0 : strlen(rootpath)));
	return *inside != NULL ? 0 : refuse_nomem(why);
}

/* Removes «.», «..» and doubled slashes from an absolute path, in place. At the top, «..» stays there. */
static void
normalise(char *path)
{
	autofree char *copy = strdup(path);
	char *part, *save = NULL, *end = path;

	for (part = copy != NULL ? strtok_r(copy, "/", &save) : NULL; part != NULL; part = strtok_r(NULL, "/", &save)) {
		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0) {
			while (end > path && *--end != '/')
				;
			continue;
		}
		*end++ = '/';
		end = stpcpy(end, part);
	}
	*end = '\0';
}

/*
 * Handles a link to a path that does not exist yet, which the runtime would create. *out gets the path behind
 * the link, or NULL if the next component is not a link.
 */
static int
behind_link(int fd, const char *inside, const char *rest, char **out, struct why *why)
{
	autofree char *name = NULL;
	char target[4096];
	ssize_t n;
	int ret;

	*out = NULL;
	rest += strspn(rest, "/");
	if ((name = strndup(rest, strcspn(rest, "/"))) == NULL)
		return refuse_nomem(why);
	if (*name == '\0' || (n = readlinkat(fd, name, target, sizeof(target) - 1)) <= 0)
		return 0;
	target[n] = '\0';
	rest += strlen(name);
	ret = *target == '/' ? asprintf(out, "%s%s", target, rest) : asprintf(out, "%s/%s%s", inside, target, rest);
	if (ret == -1) {
		*out = NULL;
		return refuse_nomem(why);
	}
	normalise(*out);
	return 0;
}

/*
 * Resolves «path» of the container in its root, with links, as the runtime will. Sets *bare if the path's directory
 * does not exist, and no link on the way leads to a path that does not exist.
 */
static int
resolve_in_root(int root, const char *rootpath, const char *path, char **out, bool *bare, struct why *why)
{
	autofree char *now = strdup(path);
	unsigned links;

	for (links = 0; now != NULL && links < 40; links++) {
		autofree char *inside = NULL;
		const char *rest = "";
		char *next = NULL;
		int fd = -1, ret;

		if (resolve_part(root, rootpath, now, &fd, &inside, &rest, why) == -1)
			return -1;
		ret = behind_link(fd, inside, rest, &next, why);
		close(fd);
		if (ret == -1)
			return -1;
		if (next == NULL) {
			*bare = links == 0 && strchr(rest + strspn(rest, "/"), '/') != NULL;
			return asprintf(out, "%s%s", inside, rest) == -1 ? refuse_nomem(why) : 0;
		}
		free(now);
		now = next;
	}
	return refuse(why, WHY_DATA, "%s in the container goes through links without end", path);
}

/* A path in the container, and where it leads. */
struct target {
	const char *path;
	char *real;
	bool bare;		/* its directory does not exist */
	bool gpu;		/* a node, or a file of the driver */
};

struct targets {
	struct target *v;
	size_t n;
};

static void
targets_free(struct targets *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i].real);
	free(l->v);
}

/*
 * True if both paths lie in the same directory and it does not exist. No link can be in it, so the two resolve
 * alike. Neither path has «..».
 */
static bool
is_in_missing_dir(const struct target *p, const char *path)
{
	const size_t dir = (size_t)(path_last(path) - path);

	return p->bare && (size_t)(path_last(p->path) - p->path) == dir && memcmp(p->path, path, dir) == 0;
}

static int
resolve_target(struct targets *l, const char *path, int root, const char *rootpath, struct why *why)
{
	const struct target *before = l->n > 0 ? &l->v[l->n - 1] : NULL;
	struct target *p = &l->v[l->n];

	*p = (struct target){ .path = path };
	if (before != NULL && is_in_missing_dir(before, path)) {
		p->bare = true;
		if (asprintf(&p->real, "%.*s%s", (int)(path_last(before->real) - before->real), before->real, path_last(path)) == -1)
			return refuse_nomem(why);
	} else if (resolve_in_root(root, rootpath, path, &p->real, &p->bare, why) == -1)
		return -1;
	if (p->real == NULL)
		return refuse_nomem(why);
	l->n++;
	return 0;
}

/* True if no link led the path elsewhere. */
static bool
is_straight(const struct target *p)
{
	return strcmp(p->path, p->real) == 0;
}

/* Where the path leads; the root's own path is empty. */
static const char *
end_of(const struct target *p)
{
	return *p->real != '\0' ? p->real : "/";
}

static int
check_pair(const struct target *ours, const struct target *theirs, struct why *why)
{
	if (!path_related(ours->path, theirs->path) &&
	    !path_related(end_of(ours), end_of(theirs)))
		return 0;
	return refuse(why, WHY_DENIED, "the container mounts %s, which would cover or lie in %s that is granted to it: %s"
	    "move that input, output or cache elsewhere", theirs->path, ours->path, ours->gpu ? "remove the engine's option "
	    "--device for the GPU, because the grant brings the GPU's files, or " : "");
}

/* True for a file system that every container has. Granted nodes are always beneath one, /dev. */
static bool
is_standard(const struct spec_mount *m)
{
	return spec_mount_is_new(m) && (path_at_or_beneath(m->target, "/dev") || path_at_or_beneath(m->target, "/proc") ||
	    path_at_or_beneath(m->target, "/sys"));
}

/* Resolves each granted target once, for all mounts: a driver has a hundred files. */
static int
fill_ours(const struct edits *e, int fd, const char *path, struct targets *out, struct why *why)
{
	size_t i;

	if ((out->v = calloc(e->mounts + e->nodes + 1, sizeof(*out->v))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < e->mounts; i++) {
		if (resolve_target(out, e->mount[i].target, fd, path, why) == -1)
			return -1;
		out->v[i].gpu = e->mount[i].driver;
	}
	for (i = 0; i < e->nodes; i++) {
		if (resolve_target(out, e->node[i].path, fd, path, why) == -1)
			return -1;
		out->v[e->mounts + i].gpu = true;
	}
	return 0;
}

/*
 * Refuses an image whose links lead one granted target into another one. The other one is a folder or file of the
 * host, and the runtime would create a mount point in it.
 */
static int
check_granted_links(const struct targets *ours, struct why *why)
{
	const struct target *in, *p;
	size_t i, k, led = 0;

	for (i = 0; i < ours->n; i++)
		led += !is_straight(&ours->v[i]);
	for (i = 0; i < ours->n && led > 0; i++)
		for (k = 0; k < ours->n; k++) {
			in = &ours->v[i];
			p = &ours->v[k];
			if (path_is_beneath(p->real, end_of(in)) && !path_is_beneath(p->path, in->path))
				return refuse(why, WHY_DENIED, "links in the image lead the granted %s to %s, inside the granted %s: use an "
				    "image without them", p->path, p->real, in->path);
		}
	return 0;
}

/*
 * Refuses an image whose links lead a granted target to a file system that every container has, or lead such a file
 * system to a granted target. The runtime would make devices and links in a folder of the host, and remove what is in
 * their way. Where no link leads elsewhere, a policy or a file of the driver may have a target there.
 */
static int
check_standard(const struct target *ours, const struct target *theirs, struct why *why)
{
	if ((is_straight(ours) && is_straight(theirs)) || !path_related(end_of(ours), end_of(theirs)))
		return 0;
	/* a node's target has no link of its own: it follows the directory that is mounted at /dev */
	if (ours->gpu && path_is_beneath(ours->path, theirs->path) && path_is_beneath(ours->real, theirs->real))
		return 0;
	return refuse(why, WHY_DENIED, "links in the image lead the granted %s to %s, and %s to %s: use an image without "
	    "them", ours->path, end_of(ours), theirs->path, end_of(theirs));
}

typedef int pair_check(const struct target *ours, const struct target *theirs, struct why *why);

static int
check_target(const char *target, int fd, const char *path, const struct targets *ours, pair_check *check,
    struct why *why)
{
	struct target theirs;
	struct targets one = { .v = &theirs };
	size_t i;
	int ret = 0;

	if (resolve_target(&one, target, fd, path, why) == -1)
		return -1;
	for (i = 0; ret == 0 && i < ours->n; i++)
		ret = check(&ours->v[i], &theirs, why);
	free(theirs.real);
	return ret;
}

static int
check_mount_conflicts(const struct spec_mount *m, int fd, const char *path, const struct targets *ours, struct why *why)
{
	struct why inner;

	if (path_check(m->target, &inner) == -1)
		return refuse(why, WHY_DATA, "a mount of the container: %s", inner.text);
	return check_target(m->target, fd, path, ours, is_standard(m) ? check_standard : check_pair, why);
}

/* Runtimes use these directories even if nothing is mounted there. */
static int
check_standard_dirs(int fd, const char *path, const struct targets *ours, struct why *why)
{
	static const char *const dir[] = { "/dev", "/proc", "/sys" };
	size_t i;

	for (i = 0; i < sizeof(dir) / sizeof(dir[0]); i++)
		if (check_target(dir[i], fd, path, ours, check_standard, why) == -1)
			return -1;
	return 0;
}

int
rootfs_check_conflicts(const struct spec *s, int fd, const char *path, const struct edits *e, struct why *why)
{
	struct targets ours = { 0 };
	size_t i;
	int ret;

	ret = fill_ours(e, fd, path, &ours, why) == -1 ? -1 : check_granted_links(&ours, why);
	if (ret == 0 && ours.n > 0)
		ret = check_standard_dirs(fd, path, &ours, why);
	for (i = 0; ret == 0 && ours.n > 0 && i < s->mount_count; i++)
		if (!s->mount[i].duplicate)
			ret = check_mount_conflicts(&s->mount[i], fd, path, &ours, why);
	targets_free(&ours);
	return ret;
}
