/*
 * See relabel.h. Walks through files that a container or its user may be changing at the same time. Opens
 * every entry by its directory's descriptor, with O_PATH and never through a link, and checks and labels by
 * that entry's descriptor. Must never label anything on another mount, nor a file that has a name outside of
 * the folder. Names may come and go meanwhile, but fs.protected_hardlinks lets a user link only files that
 * the user can read and write anyway.
 */
#include "relabel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../host/clock.h"
#include "../host/file.h"
#include "../host/folder/mounts.h"
#include "../host/selinux.h"
#include "linked.h"
#include "loaded.h"
#include "newlabel.h"

#define ENTRIES_MAX 1000000
#define DEPTH_MAX 128
#define KNOWN_MAX 16
#define SHOWN "%.200s"		/* a path, cut to leave room for the advice */

/* A label that was checked already, and the label that replaces it. */
struct checked_label {
	char has[SECONTEXT_MAX], gets[SECONTEXT_MAX];
	const char *class;
};

/* The walk through one folder. */
struct walk {
	int fd;			/* of the folder during the walk; O_PATH */
	int client;		/* pidfd of the process that asked, likewise */
	char *folder;		/* its path, for messages only */
	enum relabel how;
	bool enforcing;
	struct secontext container;	/* the label of its processes */
	const char *own;	/* our own label */
	struct linked_kept *kept;
	bool change;		/* true in the second walk; the first one only looks */
	int64_t until;		/* clock_ms() */
	size_t entries, wrong;	/* entries met; entries that need another label */
	uint64_t mount;
	struct buf path;	/* of the entry at hand; begins with the folder's path */
	struct linked_files linked;
	struct checked_label known[KNOWN_MAX];
	size_t knowns;
	struct why *why;
};

/* All folders of one container. */
struct relabelling {
	struct walk *walk[LABEL_FOLDERS_MAX];
	size_t walks;
	struct linked_kept kept;
	char own[SECONTEXT_MAX];
};

static void
walk_free(struct walk *w)
{
	linked_free(&w->linked);
	buf_free(&w->path);
	free(w->folder);
	free(w);
}

static int refuse_walk(const struct walk *w, enum why_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Refuses with a message that begins with the folder. */
static int
refuse_walk(const struct walk *w, enum why_code code, const char *fmt, ...)
{
	char line[sizeof(w->why->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return refuse(w->why, code, "folder %s: %s", w->folder, line);
}

/* Labels. */

static int
refuse_label(const struct walk *w, const char *has)
{
	return refuse_walk(w, WHY_DENIED, "gpuhelper may not relabel " SHOWN ", which is labelled %s: setsebool -P "
	    "gpuhelper_relabel_folders on, for what is labelled as /srv and /mnt are; else chcon -R -t "
	    SECONTEXT_FILE_TYPE " %s", w->path.p, has, w->folder);
}

/* Refuses if SELinux would not let this process relabel. */
static int
check_may(const struct walk *w, const struct checked_label *k)
{
	static const char *const from[] = { "getattr", "relabelfrom", NULL }, *const to[] = { "relabelto", NULL };
	int ret;

	if (!w->enforcing)
		return 0;
	if ((ret = loaded_lets(w->own, k->has, k->class, from)) == 1)
		ret = loaded_lets(w->own, k->gets, k->class, to);
	if (ret == -1)
		return refuse(w->why, WHY_IO, "SELinux can't be asked: %s", strerror(errno));
	return ret == 1 ? 0 : refuse_label(w, k->has);
}

/* Finds the label for an entry of this class and label. NULL with w->why. */
static const struct checked_label *
label_for(struct walk *w, const char *has, const char *class)
{
	struct checked_label *k;
	size_t i;

	for (i = 0; i < w->knowns; i++)
		if (w->known[i].class == class && strcmp(w->known[i].has, has) == 0)
			return &w->known[i];
	k = &w->known[w->knowns < KNOWN_MAX ? w->knowns : KNOWN_MAX - 1];
	k->class = class;
	snprintf(k->has, sizeof(k->has), "%s", has);
	if (!newlabel_of_file(has, w->how, w->container.level, k->gets)) {
		refuse_walk(w, WHY_IO, SHOWN " has the SELinux label \"%.100s\", which is not valid: restorecon -RF %s while "
		    "no container has it", w->path.p, has, w->folder);
		return NULL;
	}
	if (strcmp(k->has, k->gets) != 0 && check_may(w, k) == -1)
		return NULL;
	if (w->knowns < KNOWN_MAX)
		w->knowns++;
	return k;
}

static int
refuse_set(const struct walk *w, int error)
{
	if (error == EROFS)
		return refuse_walk(w, WHY_IO, "can't be labelled: it is read-only for gpuhelper: behind its socket, it needs "
		    "ReadWritePaths=%s in the unit (systemctl edit gpuhelper@.service)", w->folder);
	if (error == EOPNOTSUPP)
		return refuse_walk(w, WHY_CONFIG, "can't be labelled: its file system keeps no labels, or was mounted with "
		    "context=: remove relabel from the policy");
	/* do not advise restorecon: other containers may use what is labelled */
	return refuse_walk(w, WHY_IO, SHOWN " can't be labelled: %s; what comes before it in the folder is labelled, and "
	    "the rest will be for the next container", w->path.p, strerror(error));
}

/* Uses the entry's name in /proc, because fsetxattr(2) does not take an O_PATH descriptor. */
static int
set_label(const struct walk *w, int fd, const struct checked_label *k)
{
	struct pollfd ends = { .fd = w->client, .events = POLLIN };
	char name[FILE_LINK_MAX];

	/* if the process that asked is gone, its lease ends, and another container may come next */
	if (poll(&ends, 1, 0) != 0)
		return refuse_walk(w, WHY_AGAIN, "the process that asked for it is gone");
	if (setxattr(file_link(fd, name), "security.selinux", k->gets, strlen(k->gets) + 1, 0) == -1)
		return refuse_set(w, errno);
	return 0;
}

/* Files with several names. */

static int
count_name(struct walk *w, const struct statx *st)
{
	if (linked_count(&w->linked, w->kept, st, w->path.p) == 0)
		return 0;
	if (errno != E2BIG)
		return refuse_nomem(w->why);
	return refuse_walk(w, WHY_DENIED, "too many files in it have several names, and can't be relabelled: chcon -R -t "
	    SECONTEXT_FILE_TYPE " %s", w->folder);
}

static int
check_time(const struct walk *w)
{
	if (w->entries <= ENTRIES_MAX && clock_ms() <= w->until)
		return 0;
	return refuse_walk(w, WHY_AGAIN, "there is too much in it to be labelled while a container waits%s: label it once "
	    "(chcon -R -t " SECONTEXT_FILE_TYPE " -l s0 %s), and remove relabel from the policy", w->change ?
	    ", and it is labelled in part by now" : "", w->folder);
}

/*
 * Checks a file that had more names than were met. One of them may have existed only for a moment (while a
 * file was replaced by way of links), and be gone now. The message has no command with the file's name: its
 * owner chose the name, which may mean something to a shell.
 */
static int
check_outside_names(const struct walk *w, struct linked *l)
{
	autoclose int fd = file_open_beneath(w->fd, l->path + strlen(w->folder) + 1, O_PATH | O_NOFOLLOW);
	const bool gone = fd == -1 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
	struct statx st;

	if (gone || (fd != -1 && (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_NLINK, &st) == -1 ||
	    !linked_is(l, &st)))) {
		l->names = 0;	/* the name is another file's now, so this file does not matter */
		return 0;
	}
	if (fd != -1)
		l->names = st.stx_nlink;
	return l->names <= l->seen ? 0 : refuse_walk(w, WHY_DENIED, SHOWN " has %u names, and only %u of them are in "
	    "the folder: the others would get its label, too: copy it, or remove them", l->path, l->names, l->seen);
}

static int
check_linked(const struct walk *w)
{
	size_t i;

	for (i = 0; i < w->linked.n; i++)
		if (w->linked.v[i]->names > w->linked.v[i]->seen &&
		    (check_time(w) == -1 || check_outside_names(w, w->linked.v[i]) == -1))
			return -1;
	return 0;
}

/* Entries. */

/* The SELinux class for a file type. NULL for device nodes, which no container should get. */
static const char *
class_of(unsigned mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "dir";
	case S_IFLNK:
		return "lnk_file";
	case S_IFIFO:
		return "fifo_file";
	case S_IFSOCK:
		return "sock_file";
	default:
		return NULL;
	}
}

static int
relabel_entry(struct walk *w, int fd, const struct statx *st, const char *class)
{
	char has[SECONTEXT_MAX];
	const struct checked_label *k;

	if (!selinux_label_of(fd, has))
		return errno == EOPNOTSUPP || errno == ENODATA ? refuse_set(w, EOPNOTSUPP) : refuse_walk(w, WHY_IO,
		    "the SELinux label of " SHOWN " can't be read: %s", w->path.p, strerror(errno));
	if ((k = label_for(w, has, class)) == NULL)
		return -1;
	if (strcmp(has, k->gets) == 0)
		return 0;
	w->wrong++;
	if (w->change)
		return S_ISDIR(st->stx_mode) || linked_is_within(&w->linked, st) ? set_label(w, fd, k) : 0;
	return S_ISDIR(st->stx_mode) || st->stx_nlink <= 1 ? 0 : count_name(w, st);
}

static int visit(struct walk *w, int fd, unsigned depth);

static int
visit_name(struct walk *w, int dir, const char *name, unsigned depth)
{
	autoclose int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	const size_t len = w->path.len;
	const int error = errno;
	int ret;

	/* count names that are gone, too: otherwise names could be made and removed without end */
	w->entries++;
	if (check_time(w) == -1)
		return -1;
	if (fd == -1 && error == ENOENT)
		return 0;
	buf_printf(&w->path, "/%s", name);
	if (w->path.failed)
		return refuse_nomem(w->why);
	ret = fd != -1 ? visit(w, fd, depth) : refuse_walk(w, WHY_IO, SHOWN ": %s", w->path.p, strerror(error));
	w->path.len = len;
	w->path.p[len] = '\0';
	return ret;
}

static int
visit_all(struct walk *w, int fd, unsigned depth)
{
	DIR *d = depth < DEPTH_MAX ? file_list(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) : NULL;
	int ret = 0;
	struct dirent *e;

	if (depth >= DEPTH_MAX)
		return refuse_walk(w, WHY_DENIED, "directories in it are more than %d deep, and can't be relabelled", DEPTH_MAX);
	if (d == NULL)
		return refuse_walk(w, WHY_IO, SHOWN ": %s", w->path.p, strerror(errno));
	while (ret == 0 && (errno = 0, e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			ret = visit_name(w, dirfd(d), e->d_name, depth + 1);
	if (ret == 0 && errno != 0)
		ret = refuse_walk(w, WHY_IO, SHOWN ": %s", w->path.p, strerror(errno));
	closedir(d);
	return ret;
}

static int
visit(struct walk *w, int fd, unsigned depth)
{
	const char *class;
	struct statx st;
	uint64_t mount;

	/* ask for the mount first: a user may have mounted a file system there that never answers */
	if (!mount_of(fd, &mount))
		return refuse_walk(w, WHY_IO, "the mount of " SHOWN " can't be found", w->path.p);
	if (depth == 0)
		w->mount = mount;
	if (mount != w->mount)
		return 0;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_NLINK, &st) == -1)
		return refuse_walk(w, WHY_IO, "the type of " SHOWN " can't be read: %s", w->path.p, strerror(errno));
	if ((class = class_of(st.stx_mode)) == NULL)
		return 0;
	if (relabel_entry(w, fd, &st, class) == -1)
		return -1;
	return S_ISDIR(st.stx_mode) ? visit_all(w, fd, depth) : 0;
}

/* Folders. */

static int
walk_folder(struct walk *w, int fd, int client, bool change, uint32_t ms, struct why *why)
{
	struct statvfs fs;

	w->fd = fd;
	w->client = client;
	w->change = change;
	w->until = clock_ms() + ms;
	w->why = why;
	w->entries = w->wrong = 0;
	w->path.len = 0;
	buf_puts(&w->path, w->folder);
	if (w->path.failed)
		return refuse_nomem(w->why);
	if (visit(w, fd, 0) == -1)
		return -1;
	if (change)
		return 0;
	/* otherwise this would show only when other folders are labelled already */
	if (w->wrong > 0 && fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0)
		return refuse_set(w, EROFS);
	return check_linked(w);
}

struct relabelling *
relabel_begin(void)
{
	return calloc(1, sizeof(struct relabelling));
}

/* Adds a folder. NULL if memory is short or there are too many. */
static struct walk *
add_walk(struct relabelling *r, const struct label_query *a)
{
	struct walk *w = r->walks < LABEL_FOLDERS_MAX ? calloc(1, sizeof(*w)) : NULL;

	if (w == NULL)
		return NULL;
	w->how = a->relabel;
	w->enforcing = a->enforcing != 0;
	w->own = r->own;
	w->kept = &r->kept;
	if (!secontext_parse(a->who, &w->container) || (w->folder = strdup(a->path)) == NULL) {
		walk_free(w);
		return NULL;
	}
	return r->walk[r->walks++] = w;
}

int
relabel_walk(struct relabelling *r, int fd, int client, const struct label_query *a, uint32_t *wrong, struct why *why)
{
	struct walk *w;

	if (a->folder != r->walks)
		return refuse(why, WHY_BUG, "folder %u is looked at as number %zu", a->folder, r->walks);
	if ((w = add_walk(r, a)) == NULL)
		return refuse_nomem(why);
	if (!loaded_own(r->own))
		return refuse(why, WHY_IO, "SELinux can't be asked: %s", strerror(errno));
	if (walk_folder(w, fd, client, false, a->ms, why) == -1)
		return -1;
	*wrong = w->wrong < UINT32_MAX ? (uint32_t)w->wrong : UINT32_MAX;
	return 0;
}

int
relabel_change(struct relabelling *r, int fd, int client, const struct label_query *a, struct why *why)
{
	if (a->folder >= r->walks)
		return refuse(why, WHY_BUG, "folder %u is to be labelled, and was not looked at", a->folder);
	return walk_folder(r->walk[a->folder], fd, client, true, a->ms, why);
}

void
relabel_free(struct relabelling *r)
{
	size_t i;

	for (i = 0; i < r->walks; i++)
		walk_free(r->walk[i]);
	free(r);
}
