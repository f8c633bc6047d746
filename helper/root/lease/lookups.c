/*
 * See lookups.h. Opens directories with O_PATH, by paths that policies name and folders.c found to be root's, or that
 * gpuhelper-engine names. Reads no directory.
 */
#include "lookups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../host/folder/mounts.h"
#include "../../lease/lookupset.h"

#define MOUNTING_S 120		/* at most, from a user's grant until its folders are mounted */

/* The mount table, and the directory that the last folder was in: the next folder is often in the same one. */
struct parent_walk {
	const struct mount_table *mounts;
	char *dir;		/* NULL: no directory was noted; the other members then mean nothing */
	int fd;			/* of dir, or -1 */
	struct strlist above;	/* the file system paths of dir and of the directories above it */
};

static void
parent_walk_end(struct parent_walk *l)
{
	free(l->dir);
	if (l->fd != -1)
		close(l->fd);
	strlist_free(&l->above);
}

#define autoparentwalk __attribute__((cleanup(parent_walk_end)))

static int
refuse_unreadable(const char *path, struct why *why)
{
	return refuse(why, WHY_IO, "%s: the mounts on the way there can't be found: %s", path, strerror(errno));
}

/* Appends the file system path of a directory on this mount to *out. «whole» is the folder's path, for messages. */
static int
add_fs_path(struct strlist *out, const struct parent_walk *l, uint64_t mount, const char *path, const char *whole,
    struct why *why)
{
	autofree char *fs = NULL, *fs_path = NULL, *text = NULL;

	if (!mounts_fs_path_on(l->mounts, mount, path, &fs, &fs_path))
		return refuse_unreadable(whole, why);
	/* the wrapper gets it in JSON */
	if (!text_is_utf8(fs_path, strlen(fs_path)))
		return refuse(why, WHY_CONFIG, "%s: its path in its own file system is not UTF-8", whole);
	if (asprintf(&text, "%s %s", fs, fs_path) == -1)
		text = NULL;
	return text != NULL && strlist_add(out, text, SIZE_MAX) ? 0 : refuse_nomem(why);
}

/* Opens one directory on the way, and gets its mount. Returns a descriptor, or -1 with *why. */
static int
pin(int from, const char *path, const char *whole, uint64_t *mount, struct why *why)
{
	const int fd = file_open_beneath(from, path, O_PATH | O_DIRECTORY);

	if (fd != -1 && mount_of(fd, mount))
		return fd;
	refuse_unreadable(whole, why);
	if (fd != -1)
		close(fd);
	return -1;
}

/* Gets the mount of a directory in «from», unless it is known. -1 with *why. */
static int
find_mount(int from, const char *name, const char *whole, uint64_t *mount, struct why *why)
{
	return *mount != 0 || mount_of_dir(from, name, mount) ? 0 : refuse_unreadable(whole, why);
}

/* Removes the last part of the path. False for "/", which has no directory above it. */
static bool
go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == path && path[1] == '\0')
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* Notes the directory that a folder is in and, above it, the last directory on each mount. On failure, notes none. */
static int
walk_above(struct parent_walk *l, const char *dir, const char *whole, struct why *why)
{
	autofree char *path = strdup(dir);
	uint64_t mount, last = 0;
	int fd, ret = 0;
	bool more;

	parent_walk_end(l);
	*l = (struct parent_walk){ .mounts = l->mounts, .fd = -1 };
	if (path == NULL)
		return refuse_nomem(why);
	for (more = true; ret == 0 && more; more = go_up(path)) {
		if ((fd = pin(file_root(), path[1] != '\0' ? path + 1 : ".", whole, &mount, why)) == -1)
			return -1;
		if (l->fd == -1 || mount != last)
			ret = add_fs_path(&l->above, l, mount, path, whole, why);
		last = mount;
		if (l->fd == -1)
			l->fd = fd;
		else
			close(fd);
	}
	/* last: add_fs_paths() takes the list for that of dir, so it must be whole by then */
	return ret == 0 && (l->dir = strdup(dir)) == NULL ? refuse_nomem(why) : ret;
}

/* Adds the directory itself, its parent and, above that, the last directory on each mount. mount: its own, or 0. */
static int
add_fs_paths(struct lookup *w, const char *dir, uint64_t mount, struct parent_walk *l, struct why *why)
{
	autofree char *above = strdup(dir);
	size_t i;

	if (above == NULL)
		return refuse_nomem(why);
	if (!go_up(above))
		return find_mount(file_root(), ".", w->path, &mount, why) == -1 ? -1 :
		    add_fs_path(&w->at, l, mount, dir, w->path, why);
	if ((l->dir == NULL || strcmp(l->dir, above) != 0) && walk_above(l, above, w->path, why) == -1)
		return -1;
	if (find_mount(l->fd, path_last(dir), w->path, &mount, why) == -1)
		return -1;
	if (add_fs_path(&w->at, l, mount, dir, w->path, why) == -1)
		return -1;
	for (i = 0; i < l->above.n; i++)
		if (!strlist_add(&w->at, l->above.v[i], SIZE_MAX))
			return refuse_nomem(why);
	return 0;
}

static int
note_one(const struct edit_mount *m, struct parent_walk *walk, struct lease *l, struct why *why)
{
	autolookup struct lookup w = { .path = strdup(m->source), .writable = strlist_has(&m->options, "rw") };
	char first[1100];

	if (w.path == NULL)
		return refuse_nomem(why);
	/* other paths may lead to the same submounts, and nobody could see that they lead through this folder */
	if (l->container.host_root && w.writable && strlist_has(&m->options, "rbind") &&
	    mounts_beneath(walk->mounts, m->source, first, sizeof(first)))
		return refuse(why, WHY_DENIED, "folder %s has a mount beneath it (%s), so a container whose root is the host's "
		    "root can't have it rw: give it a user namespace, or the folder without submounts", m->source, first);
	if (add_fs_paths(&w, w.path, m->mnt_id, walk, why) == -1)
		return -1;
	return lease_add_lookup(l, &w) ? 0 : refuse_nomem(why);
}

/* True if one of the lease's lookup paths, from this one on, leads to a file in the same directory. */
static bool
has_directory(const struct lease *l, size_t from, const char *file, size_t len)
{
	size_t i;

	for (i = from; i < l->lookups; i++)
		if (strncmp(l->lookup[i].path, file, len) == 0 && strchr(l->lookup[i].path + len, '/') == NULL)
			return true;
	return false;
}

/*
 * The first file system path of a lookup path is the target's own, which the lookup path does not go through. For a
 * file, add_fs_paths() has put the file's directory there. Adds the directory once more, because the lookup path goes
 * through it.
 */
static bool
repeat_first(struct lookup *w)
{
	return w->at.n > 0 && w->at.v != NULL && strlist_add(&w->at, w->at.v[0], SIZE_MAX);
}

/*
 * gpuhelper-engine names the driver's files. Refuses a directory that it could not have seen: root must neither wait
 * for a user's file system there, nor tell what is in a directory that is not for all.
 */
static int
check_for_all(const char *dir, const struct mount_table *mounts, struct why *why)
{
	autofree char *copy = strdup(dir + 1);
	char *name, *rest = copy;
	autoclose int at = dup(file_root());
	const char *unsure;
	struct stat st;
	int next;

	if (copy == NULL)
		return refuse_nomem(why);
	if ((unsure = mounts_unsure(mounts, dir)) != NULL)
		return refuse(why, WHY_CONFIG, "driver files in %s: the file system at %s may never answer (fuse, autofs)", dir,
		    unsure);
	for (;;) {
		if (fstat(at, &st) == -1 || (st.st_mode & S_IXOTH) == 0 || st.st_uid != 0)
			return refuse(why, WHY_CONFIG, "driver files in %s: a directory on the way is not root's, or not open to "
			    "all", dir);
		if ((name = strsep(&rest, "/")) == NULL || *name == '\0')
			return 0;
		if ((next = file_open_beneath(at, name, O_PATH | O_DIRECTORY)) == -1)
			return refuse_unreadable(dir, why);
		close(at);
		at = next;
	}
}

/* Adds one lookup path for all files of a directory, because they share every step. A driver has a hundred files. */
static int
note_file(const char *file, size_t from, struct parent_walk *walk, struct lease *l, struct why *why)
{
	const size_t len = (size_t)(path_last(file) - file);	/* includes the slash */
	autofree char *dir = strndup(file, len > 1 ? len - 1 : 1);
	autolookup struct lookup w = { .path = strdup(file) };

	if (dir == NULL || w.path == NULL)
		return refuse_nomem(why);
	if (has_directory(l, from, file, len))
		return 0;
	if (check_for_all(dir, walk->mounts, why) == -1)
		return -1;
	if (add_fs_paths(&w, dir, 0, walk, why) == -1)
		return -1;
	return repeat_first(&w) && lease_add_lookup(l, &w) ? 0 : refuse_nomem(why);
}

/* Root runs poststart and poststop hooks when the container already exists, and could have changed them. */
static int
check_own_hooks(size_t from, const struct lease *l, struct why *why)
{
	size_t i, k;

	for (i = from; i < l->lookups; i++)
		for (k = 0; l->container.host_root && k < from; k++)
			if (l->lookup[k].writable && lookup_passes(&l->lookup[i], &l->lookup[k]))
				return refuse(why, WHY_DENIED, "folder %s holds %s, a driver file or a CDI hook: a container whose "
				    "root is the host's root could change what root runs", l->lookup[k].path, l->lookup[i].path);
	return 0;
}

static bool
has_driver_files(const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver)
			return true;
	return e->hooks > 0;
}

int
lookups_note_driver(const struct edits *e, struct lease *l, struct why *why)
{
	const size_t from = l->lookups;
	automounts struct mount_table *mounts = NULL;
	autoparentwalk struct parent_walk walk = { .fd = -1 };
	size_t i;

	if (!has_driver_files(e))
		return 0;
	walk.mounts = mounts = mounts_read();
	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver && note_file(e->mount[i].source, from, &walk, l, why) == -1)
			return -1;
	for (i = 0; i < e->hooks; i++)
		if (note_file(e->hook[i].path, from, &walk, l, why) == -1)
			return -1;
	l->container.hooked = e->hooks > 0;
	return l->container.hooked ? check_own_hooks(from, l, why) : 0;
}

int
lookups_note(const struct edits *e, const struct mount_table *mounts, const struct idmap *uids, struct lease *l,
    struct why *why)
{
	autoparentwalk struct parent_walk walk = { .mounts = mounts, .fd = -1 };
	uint32_t inside;
	size_t i;

	l->container.host_root = idmap_in(uids, 0, &inside);
	for (i = 0; i < e->mounts; i++)
		if (note_one(&e->mount[i], &walk, l, why) == -1)
			return -1;
	return 0;
}

static const char *
name_for(const struct lease *holder, const struct lease *who)
{
	return holder->uid == who->uid ? holder->id : "of another user";
}

/*
 * Finds a lookup path of the set that leads through a folder which the writer may write to as the host's root; *through
 * is the lookup path of that folder. NULL: there is none.
 */
static const struct lookup *
find_through(const struct lookupset *own, const struct lease *writer, const struct lookup **through)
{
	const struct lookup *w = NULL;
	size_t i;

	for (i = 0; w == NULL && writer->container.host_root && i < writer->lookups; i++)
		if (writer->lookup[i].writable && (w = lookupset_through(own, &writer->lookup[i])) != NULL)
			*through = &writer->lookup[i];
	return w;
}

/*
 * Finds a writable folder of the set that is in a folder which the other container may write to as the host's root,
 * or that contains one: either container could move the inner folder. NULL: there is none.
 */
static const struct lookup *
find_nested(const struct lookupset *own, const struct lease *other)
{
	const struct lookup *w = NULL;
	size_t i;

	for (i = 0; w == NULL && other->container.host_root && i < other->lookups; i++)
		if (other->lookup[i].writable)
			w = lookupset_nested(own, &other->lookup[i]);
	return w;
}

/*
 * True while the runtime may still resolve the paths to the lease's folders. A user's runtime has only that user's
 * rights, and counts for MOUNTING_S only: a user who delays it for longer does so to keep others out.
 */
static bool
is_being_given(const struct lease *l)
{
	return l->container.init.pid == 0 && (l->uid == 0 || time(NULL) - l->since < MOUNTING_S);
}

/* Compares the lease with one other; «own» has the lease's lookup paths. */
static int
check_beside(const struct lease *o, const struct lease *l, const struct lookupset *own, struct why *why)
{
	const struct lookup *w, *through;

	if ((w = find_through(own, o, &through)) != NULL)
		return refuse(why, WHY_AGAIN, "%s lies in %s, which container %s may write to as the host's root, so that it "
		    "could redirect the path: give that container a user namespace, or try again when it is gone", w->path,
		    through->path, name_for(o, l));
	if (!l->container.host_root)
		return 0;
	/*
	 * The mounts of a container that exists can't be redirected any more. But if it is the host's root and its folder
	 * were moved, nobody would know where it writes; and its hooks are still to be run.
	 */
	if ((is_being_given(o) || o->container.host_root || o->container.hooked) &&
	    (through = lookupset_crossed(own, o->lookup, o->lookups, &w)) != NULL)
		return refuse(why, WHY_AGAIN, "folder %s holds %s, which container %s %s: a container whose root is the host's "
		    "root can't have the folder rw meanwhile; try again later", through->path, w->path, name_for(o, l),
		    is_being_given(o) ? "is being given" : o->container.host_root ? "has, as the host's root" : "has for its hooks");
	if ((w = find_nested(own, o)) != NULL)
		return refuse(why, WHY_AGAIN, "folder %s lies in one that container %s may write to as the host's root, or "
		    "holds one: give one of the containers a user namespace, or try again when that container is gone", w->path,
		    name_for(o, l));
	return 0;
}

int
lookups_may_add(const struct leases *ls, const struct lease *l, struct why *why)
{
	autolookupset struct lookupset own;
	size_t i;

	if (!lookupset_make(&own, l->lookup, l->lookups))
		return refuse_nomem(why);
	for (i = 0; i < ls->n; i++)
		if (strcmp(ls->v[i]->key, l->key) != 0 && check_beside(ls->v[i], l, &own, why) == -1)
			return -1;
	return 0;
}

int
lookups_check_root(const struct lease *l, uint32_t uid, struct why *why)
{
	if (l->lookups == 0 || !l->container.host_root || uid == 0)
		return 0;
	return refuse(why, WHY_DENIED, "the container's ids include the host's root, and uid %u may not make such a "
	    "container: is linux.uidMappings missing?", uid);
}

void
lookups_keep_writable(struct lease *l)
{
	size_t i, kept = 0;

	/* its hooks are still to be run */
	if (l->container.hooked)
		return;
	for (i = 0; i < l->lookups; i++)
		if (l->container.host_root && l->lookup[i].writable)
			l->lookup[kept++] = l->lookup[i];
		else
			lookup_free(&l->lookup[i]);
	l->lookups = kept;
}
