/*
 * See ways.h.  Opens directories with O_PATH by paths that policies or CDI specs name and
 * folders.c or driverfiles.c has found root's; reads nothing in them.
 */
#include "ways.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/mounts.h"
#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "../pure/wayset.h"

#define GIVING_S 120		/* at most, from a user's grant to its folders being mounted */

/* By what all of a container's folders are looked at. */
struct look {
	int root;
	struct mount_table *mounts;
};

static int
refuse_unseen(const char *path, struct why *why)
{
	return refuse(why, WHY_IO, "%s: the file systems on the way there can't be seen: %s", path, strerror(errno));
}

static int
add_place(struct way *w, const struct look *l, int fd, const char *path, struct why *why)
{
	autofree char *fs = NULL, *place = NULL, *text = NULL;

	if (!mounts_place(l->mounts, fd, path, &fs, &place))
		return refuse_unseen(w->path, why);
	/* the wrapper is told of it, in JSON */
	if (!text_is_utf8(place, strlen(place)))
		return refuse(why, WHY_CONFIG, "%s: its path in its own file system is no UTF-8 text", w->path);
	if (asprintf(&text, "%s %s", fs, place) == -1)
		text = NULL;
	return text != NULL && strlist_add(&w->at, text, SIZE_MAX) ? 0 : refuse_nomem(why);
}

/* One directory on the way, and which mount it is on. */
static int
look_at(struct way *w, int root, const char *path, uint64_t *mount, int *fd, struct why *why)
{
	*fd = file_open_beneath(root, path[1] != '\0' ? path + 1 : ".", O_PATH | O_DIRECTORY);
	if (*fd != -1 && mount_of(*fd, mount))
		return 0;
	refuse_unseen(w->path, why);
	if (*fd != -1)
		close(*fd);
	return -1;
}

/* The directory itself, and of those above it the first, and the last one on each mount. */
static int
add_places(struct way *w, const char *dir, const struct look *l, struct why *why)
{
	autofree char *path = strdup(dir);
	uint64_t mount, last = 0;
	size_t len, n;
	int fd, ret = 0;

	if (path == NULL)
		return refuse_nomem(why);
	for (n = 0, len = strlen(path); ret == 0 && len > 0; n++) {
		if (look_at(w, l->root, path, &mount, &fd, why) == -1)
			return -1;
		if (n <= 1 || mount != last)
			ret = add_place(w, l, fd, path, why);
		close(fd);
		last = mount;
		/* one up; above "/" there is nothing */
		for (len = len > 1 ? len : 0; len > 0 && path[len - 1] != '/'; len--)
			;
		len = len > 1 ? len - 1 : len;
		path[len] = '\0';
	}
	return ret;
}

static int
note_one(const struct edit_mount *m, const struct look *look, struct lease *l, struct why *why)
{
	autoway struct way w = { .path = strdup(m->source), .writable = strlist_has(&m->options, "rw") };
	char first[1100];

	if (w.path == NULL)
		return refuse_nomem(why);
	/* what is mounted beneath could be reached by other paths, which nobody would know to lead through it */
	if (l->host_root && w.writable && strlist_has(&m->options, "rbind") &&
	    mounts_beneath(look->mounts, m->source, first, sizeof(first)))
		return refuse(why, WHY_DENIED, "folder %s has a mount beneath it (%s), which a container that is the host's root "
		    "can't have for writing: give it a user namespace, or the folder without submounts", m->source, first);
	if (add_places(&w, w.path, look, why) == -1)
		return -1;
	return lease_add_way(l, &w) ? 0 : refuse_nomem(why);
}

/* Is there a way to a file of the same directory, from this one of the lease's ways on? */
static bool
has_directory(const struct lease *l, size_t from, const char *file, size_t len)
{
	size_t i;

	for (i = from; i < l->ways; i++)
		if (strncmp(l->way[i].path, file, len) == 0 && strchr(l->way[i].path + len, '/') == NULL)
			return true;
	return false;
}

/* A file has a place of its own, in which nobody writes; its directory is the first one above. */
static bool
repeat_first(struct way *w)
{
	return w->at.n > 0 && w->at.v != NULL && strlist_add(&w->at, w->at.v[0], SIZE_MAX);
}

/* One way stands for all files of a directory, of which a driver has a hundred: they share every step of it. */
static int
note_file(const char *file, size_t from, const struct look *look, struct lease *l, struct why *why)
{
	const size_t len = (size_t)(path_last(file) - file);	/* with the slash */
	autofree char *dir = strndup(file, len > 1 ? len - 1 : 1);
	autoway struct way w = { .path = strdup(file) };

	if (dir == NULL || w.path == NULL)
		return refuse_nomem(why);
	if (has_directory(l, from, file, len))
		return 0;
	if (add_places(&w, dir, look, why) == -1)
		return -1;
	return repeat_first(&w) && lease_add_way(l, &w) ? 0 : refuse_nomem(why);
}

/* A hook is run, by root, when its own container is there already (poststart, poststop). */
static int
check_own_hooks(size_t from, const struct lease *l, struct why *why)
{
	size_t i, k;

	for (i = from; i < l->ways; i++)
		for (k = 0; l->host_root && k < from; k++)
			if (l->way[k].writable && way_passes(&l->way[i], &l->way[k]))
				return refuse(why, WHY_DENIED, "folder %s holds %s, a hook of the driver's CDI spec or what it comes with: a "
				    "container that is the host's root there could change what root runs", l->way[k].path, l->way[i].path);
	return 0;
}

int
ways_note_driver(const struct edits *e, struct lease *l, struct why *why)
{
	const size_t from = l->ways;
	automounts struct mount_table *mounts = NULL;
	autoclose int root = -1;
	struct look look;
	size_t i;

	if (e->mounts == 0 && e->hooks == 0)
		return 0;
	if ((root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	look = (struct look){ root, mounts = mounts_read() };
	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver && note_file(e->mount[i].source, from, &look, l, why) == -1)
			return -1;
	for (i = 0; i < e->hooks; i++)
		if (note_file(e->hook[i].path, from, &look, l, why) == -1)
			return -1;
	l->hooked = e->hooks > 0;
	return l->hooked ? check_own_hooks(from, l, why) : 0;
}

int
ways_note(const struct edits *e, const struct idmap *uids, struct lease *l, struct why *why)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	automounts struct mount_table *mounts = e->mounts > 0 ? mounts_read() : NULL;
	const struct look look = { .root = root, .mounts = mounts };
	uint32_t inside;
	size_t i;

	l->host_root = idmap_in(uids, 0, &inside);
	if (root == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	for (i = 0; i < e->mounts; i++)
		if (note_one(&e->mount[i], &look, l, why) == -1)
			return -1;
	return 0;
}

static const char *
name_for(const struct lease *holder, const struct lease *who)
{
	return holder->uid == who->uid ? holder->id : "of another user";
}

/* One of the set that leads through what the other container writes in as the host's root. */
static const struct way *
find_through(const struct wayset *own, const struct lease *writer, const struct way **through)
{
	const struct way *w = NULL;
	size_t i;

	for (i = 0; w == NULL && writer->host_root && i < writer->ways; i++)
		if (writer->way[i].writable && (w = wayset_through(own, &writer->way[i])) != NULL)
			*through = &writer->way[i];
	return w;
}

/* Folders of both, for writing as the host's root, of which one lies in the other: who writes in that could move it. */
static const struct way *
find_nested(const struct wayset *own, const struct lease *other)
{
	const struct way *w = NULL;
	size_t i;

	for (i = 0; w == NULL && other->host_root && i < other->ways; i++)
		if (other->way[i].writable)
			w = wayset_nested(own, &other->way[i]);
	return w;
}

/*
 * Its runtime may still go the way to its folders. A user's goes it with that user's rights alone; after so long it
 * has, or the lease is one that only keeps others away.
 */
static bool
is_being_given(const struct lease *l)
{
	return l->init.pid == 0 && (l->uid == 0 || time(NULL) - l->since < GIVING_S);
}

/* The lease's own ways, sorted, against those of one other. */
static int
admit_beside(const struct lease *o, const struct lease *l, const struct wayset *own, struct why *why)
{
	const struct way *w, *through;

	if ((w = find_through(own, o, &through)) != NULL)
		return refuse(why, WHY_AGAIN, "%s lies in %s, which container %s may write in as the host's root, and "
		    "could have lead elsewhere: give that one a user namespace, or try again when it is gone", w->path,
		    through->path, name_for(o, l));
	if (!l->host_root)
		return 0;
	/* once a container is made, nothing moves what is mounted there; but where it then writes would not be known */
	if ((is_being_given(o) || o->host_root || o->hooked) && (through = wayset_passed(own, o->way, o->ways, &w)) != NULL)
		return refuse(why, WHY_AGAIN, "folder %s holds %s, which container %s %s: a container that is the host's root "
		    "can't have it for writing meanwhile; try again later", through->path, w->path, name_for(o, l),
		    is_being_given(o) ? "is being given" : o->host_root ? "has, as the host's root" : "has for its hooks");
	if ((w = find_nested(own, o)) != NULL)
		return refuse(why, WHY_AGAIN, "folder %s lies in one that container %s may write in as the host's root, or "
		    "holds it: give one of them a user namespace, or try again when that one is gone", w->path,
		    name_for(o, l));
	return 0;
}

int
ways_admit(const struct leases *ls, const struct lease *l, struct why *why)
{
	autowayset struct wayset own;
	size_t i;

	if (!wayset_make(&own, l->way, l->ways))
		return refuse_nomem(why);
	for (i = 0; i < ls->n; i++)
		if (strcmp(ls->v[i]->key, l->key) != 0 && admit_beside(ls->v[i], l, &own, why) == -1)
			return -1;
	return 0;
}

int
ways_check_claim(const struct lease *l, uint32_t uid, struct why *why)
{
	if (l->ways == 0 || !l->host_root || uid == 0)
		return 0;
	return refuse(why, WHY_DENIED, "the container's ids include the host's root, whom uid %u can't make a container "
	    "for: linux.uidMappings is missing?", uid);
}

void
ways_settle(struct lease *l)
{
	size_t i, kept = 0;

	/* its hooks are still to be run */
	if (l->hooked)
		return;
	for (i = 0; i < l->ways; i++)
		if (l->host_root && l->way[i].writable)
			l->way[kept++] = l->way[i];
		else
			way_free(&l->way[i]);
	l->ways = kept;
}
