/*
 * See relabel.h.  Walks what a container, or its user, may be changing at this
 * very moment.  Every entry is opened by its directory's descriptor, with O_PATH and
 * not through a link, and all that is judged and done goes by the descriptor of that.
 * Must never label what lies on another mount, nor what has a name outside of the
 * folder: as to names that come and go meanwhile, fs.protected_hardlinks sees to it
 * that no one makes them of files that he could not read and write anyway.
 */
#include "relabel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../host/clock.h"
#include "../host/file.h"
#include "../host/folders.h"
#include "../host/mounts.h"
#include "../pure/cleanup.h"
#include "state.h"
#include "timer.h"

/* The wrapper waits for its answer for 10 s (user/ask.c). */
#define LOOK_MS 3000
#define CHANGE_MS 6000
#define STUCK_MS 8000		/* where a file system does not answer (timer.h) */
#define ENTRIES_MAX 1000000
#define LINKED_MAX 65536	/* of all folders together, as the next one */
#define LINKED_BYTES (16 << 20)	/* of their paths: this memory is locked */
#define DEPTH_MAX 128
#define KNOWN_MAX 16
#define SHOWN "%.200s"		/* a path, so that there is room for what to do */

/* A file with several names. */
struct linked {
	uint64_t device, inode;	/* one mount may have several devices: subvolumes of btrfs, layers of overlayfs */
	uint32_t names, seen;	/* that it has, that were met in the folder */
	char *path;		/* the first of them */
};

/* Labels that were judged already. */
struct known {
	char has[SECONTEXT_MAX], gets[SECONTEXT_MAX];
	const char *class;
};

/* What was kept of files with several names. */
struct kept {
	size_t files, bytes;
};

/* One folder on its way. */
struct walk {
	const struct label *label;
	const struct peer *peer;
	struct kept *kept;
	const struct edit_mount *folder;
	const char *own;	/* our own label */
	bool change;		/* the second time: the first one only looks */
	int64_t until;		/* clock_ms() */
	size_t entries, wrong;	/* met; to be labelled */
	uint64_t mount;
	struct buf path;	/* of the entry at hand: the folder's own, or what begins with that */
	struct linked **linked;
	size_t linkeds;
	void *by_inode;
	struct known known[KNOWN_MAX];
	size_t knowns;
	struct why *why;
};

/* All of one container. */
struct relabelling {
	struct walk *walk;
	size_t walks;
	struct kept kept;
	char own[SECONTEXT_MAX];
	int64_t begun;		/* clock_ms() */
	int line;		/* lock of the user's own; -1: none */
};

static void
keep(void *unused)
{
	(void)unused;
}

static void
walk_free(struct walk *w)
{
	size_t i;

	tdestroy(w->by_inode, keep);
	for (i = 0; i < w->linkeds; i++) {
		free(w->linked[i]->path);
		free(w->linked[i]);
	}
	free(w->linked);
	buf_free(&w->path);
}

static int fail(const struct walk *w, enum why_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Says which folder it is about. */
static int
fail(const struct walk *w, enum why_code code, const char *fmt, ...)
{
	char line[sizeof(w->why->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return refuse(w->why, code, "folder %s: %s", w->folder->source, line);
}

/* Which labels. */

static int
refuse_label(const struct walk *w, const char *has)
{
	return fail(w, WHY_DENIED, "gpuhelper may not relabel " SHOWN ", which is labelled %s: setsebool -P "
	    "gpuhelper_relabel_folders on, for what is labelled as /srv and /mnt are; else chcon -R -t "
	    SECONTEXT_FILE_TYPE " %s", w->path.p, has, w->folder->source);
}

/* Would SELinux let us? */
static int
check_may(const struct walk *w, const struct known *k)
{
	static const char *const from[] = { "getattr", "relabelfrom", NULL }, *const to[] = { "relabelto", NULL };
	int ret;

	if (w->label->state == SELINUX_PERMISSIVE)
		return 0;
	if ((ret = selinux_may(w->own, k->has, k->class, from)) == 1)
		ret = selinux_may(w->own, k->gets, k->class, to);
	if (ret == -1)
		return refuse(w->why, WHY_IO, "SELinux can't be asked: %s", strerror(errno));
	return ret == 1 ? 0 : refuse_label(w, k->has);
}

/* What something of this class and label gets; NULL with why. */
static const struct known *
judge(struct walk *w, const char *has, const char *class)
{
	struct known *k;
	size_t i;

	for (i = 0; i < w->knowns; i++)
		if (w->known[i].class == class && strcmp(w->known[i].has, has) == 0)
			return &w->known[i];
	k = &w->known[w->knowns < KNOWN_MAX ? w->knowns : KNOWN_MAX - 1];
	k->class = class;
	snprintf(k->has, sizeof(k->has), "%s", has);
	if (!secontext_relabel(has, w->folder->relabel, w->label->process.level, k->gets)) {
		fail(w, WHY_IO, SHOWN " has the SELinux label \"%.100s\", which is none: restorecon -RF %s while no container "
		    "has it", w->path.p, has, w->folder->source);
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
		return fail(w, WHY_IO, "can't be labelled, it is read-only for gpuhelper: asked by the socket, it needs "
		    "ReadWritePaths=%s in the unit (systemctl edit gpuhelper@.service)", w->folder->source);
	if (error == EOPNOTSUPP)
		return fail(w, WHY_CONFIG, "can't be labelled: its file system keeps no labels, or was mounted with context=: "
		    "take relabel out of the policy");
	/* not restorecon: other containers may live on what is labelled */
	return fail(w, WHY_IO, SHOWN " can't be labelled: %s; what comes before it in the folder is by now, and the rest will "
	    "be for the next container", w->path.p, strerror(error));
}

static int
set(const struct walk *w, int fd, const struct known *k)
{
	/* its lease ends with it, and another container may be next */
	if (!process_lives(w->peer->pid, w->peer->start))
		return fail(w, WHY_AGAIN, "who asked for it is gone");
	return label_write(fd, k->gets) == -1 ? refuse_set(w, errno) : 0;
}

/* Files with several names. */

static int
by_inode(const void *a, const void *b)
{
	const struct linked *x = a, *y = b;

	if (x->device != y->device)
		return x->device > y->device ? 1 : -1;
	return (x->inode > y->inode) - (x->inode < y->inode);
}

static uint64_t
device_of(const struct statx *st)
{
	return (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
}

static struct linked *
find_linked(const struct walk *w, const struct statx *st)
{
	const struct linked key = { .device = device_of(st), .inode = st->stx_ino };
	struct linked *const *at = tfind(&key, &w->by_inode, by_inode);

	return at != NULL ? *at : NULL;
}

static struct linked *
add_linked(struct walk *w, const struct statx *st)
{
	struct linked **v, *l;

	if ((v = reallocarray(w->linked, w->linkeds + 1, sizeof(struct linked *))) == NULL)
		return NULL;
	w->linked = v;
	if ((l = calloc(1, sizeof(*l))) == NULL)
		return NULL;
	l->device = device_of(st);
	l->inode = st->stx_ino;
	l->path = strdup(w->path.p);
	if (l->path == NULL || tsearch(l, &w->by_inode, by_inode) == NULL) {
		free(l->path);
		free(l);
		return NULL;
	}
	v[w->linkeds++] = l;
	w->kept->files++;
	w->kept->bytes += w->path.len;
	return l;
}

static int
count_name(struct walk *w, const struct statx *st)
{
	struct linked *l = find_linked(w, st);

	if (l == NULL && (w->kept->files >= LINKED_MAX || w->kept->bytes + w->path.len > LINKED_BYTES))
		return fail(w, WHY_DENIED, "too many files in it have several names, and can't be relabelled: chcon -R -t "
		    SECONTEXT_FILE_TYPE " %s", w->folder->source);
	if (l == NULL && (l = add_linked(w, st)) == NULL)
		return refuse_nomem(w->why);
	l->seen++;
	if (st->stx_nlink > l->names)
		l->names = st->stx_nlink;
	return 0;
}

static int
check_time(const struct walk *w)
{
	if (w->entries <= ENTRIES_MAX && clock_ms() <= w->until)
		return 0;
	return fail(w, WHY_AGAIN, "there is too much in it to be labelled while a container waits%s: label it once "
	    "(chcon -R -t " SECONTEXT_FILE_TYPE " -l s0 %s), and take relabel out of the policy", w->change ?
	    ", and it is labelled in part by now" : "", w->folder->source);
}

/*
 * One of the names may have been for a moment (a file is written beside, linked,
 * unlinked): then it is gone by now.  The refusal has no command with the name in
 * it, which is its owner's choice, and may mean something to a shell.
 */
static int
check_names(const struct walk *w, int folder, struct linked *l)
{
	autoclose int fd = file_open_beneath(folder, l->path + strlen(w->folder->source) + 1, O_PATH | O_NOFOLLOW);
	const bool gone = fd == -1 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
	struct statx st;

	if (gone || (fd != -1 && (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_NLINK, &st) == -1 ||
	    st.stx_ino != l->inode || device_of(&st) != l->device))) {
		l->names = 0;	/* it is another one's by now, and of no concern */
		return 0;
	}
	if (fd != -1)
		l->names = st.stx_nlink;
	return l->names <= l->seen ? 0 : fail(w, WHY_DENIED, SHOWN " has %u names, and only %u of them are in the folder: the "
	    "others would get its label, too: copy it, or remove them", l->path, l->names, l->seen);
}

static int
check_linked(const struct walk *w, int folder)
{
	size_t i;

	for (i = 0; i < w->linkeds; i++)
		if (w->linked[i]->names > w->linked[i]->seen &&
		    (check_time(w) == -1 || check_names(w, folder, w->linked[i]) == -1))
			return -1;
	return 0;
}

/* All of its names were met here, and there is none more since. */
static bool
is_within(const struct walk *w, const struct statx *st)
{
	const struct linked *l = st->stx_nlink > 1 ? find_linked(w, st) : NULL;

	return st->stx_nlink <= 1 || (l != NULL && st->stx_nlink <= l->seen);
}

/* Entries. */

/* NULL for what no container is to have: device nodes. */
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
	const struct known *k;

	if (!selinux_label_of(fd, has))
		return errno == EOPNOTSUPP || errno == ENODATA ? refuse_set(w, EOPNOTSUPP) : fail(w, WHY_IO,
		    "the SELinux label of " SHOWN " can't be read: %s", w->path.p, strerror(errno));
	if ((k = judge(w, has, class)) == NULL)
		return -1;
	if (strcmp(has, k->gets) == 0)
		return 0;
	w->wrong++;
	if (w->change)
		return S_ISDIR(st->stx_mode) || is_within(w, st) ? set(w, fd, k) : 0;
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

	/* what is gone by now counts, too: names can be made and removed without end */
	w->entries++;
	if (check_time(w) == -1)
		return -1;
	if (fd == -1 && error == ENOENT)
		return 0;
	buf_printf(&w->path, "/%s", name);
	if (w->path.failed)
		return refuse_nomem(w->why);
	ret = fd != -1 ? visit(w, fd, depth) : fail(w, WHY_IO, SHOWN ": %s", w->path.p, strerror(error));
	w->path.len = len;
	w->path.p[len] = '\0';
	return ret;
}

static int
visit_all(struct walk *w, int fd, unsigned depth)
{
	int dir = depth < DEPTH_MAX ? openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, ret = 0;
	struct dirent *e;
	DIR *d;

	if (depth >= DEPTH_MAX)
		return fail(w, WHY_DENIED, "directories in it are more than %d deep, and can't be relabelled", DEPTH_MAX);
	if (dir == -1 || (d = fdopendir(dir)) == NULL) {
		ret = errno;
		if (dir != -1)
			close(dir);
		return fail(w, WHY_IO, SHOWN ": %s", w->path.p, strerror(ret));
	}
	while (ret == 0 && (errno = 0, e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			ret = visit_name(w, dir, e->d_name, depth + 1);
	if (ret == 0 && errno != 0)
		ret = fail(w, WHY_IO, SHOWN ": %s", w->path.p, strerror(errno));
	closedir(d);
	return ret;
}

static int
visit(struct walk *w, int fd, unsigned depth)
{
	const char *class;
	struct statx st;
	uint64_t mount;

	/* a user can have mounted a file system of his own on a directory of his, which never answers */
	if (!mount_of(fd, &mount))
		return fail(w, WHY_IO, "it can't be seen on which mount " SHOWN " is", w->path.p);
	if (depth == 0)
		w->mount = mount;
	if (mount != w->mount)
		return 0;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_NLINK, &st) == -1)
		return fail(w, WHY_IO, "it can't be seen what " SHOWN " is: %s", w->path.p, strerror(errno));
	if ((class = class_of(st.stx_mode)) == NULL)
		return 0;
	if (relabel_entry(w, fd, &st, class) == -1)
		return -1;
	return S_ISDIR(st.stx_mode) ? visit_all(w, fd, depth) : 0;
}

/* Folders. */

static int
walk(struct walk *w, bool change, int64_t until)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct statvfs fs;

	w->change = change;
	w->until = until;
	w->entries = w->wrong = 0;
	/* what it names was found by folders.c, and no one but root can have it name another since */
	if (root == -1 || (fd = file_open_beneath(root, w->folder->source + 1, O_PATH | O_DIRECTORY)) == -1)
		return fail(w, WHY_IO, "%s", strerror(errno));
	w->path.len = 0;
	buf_puts(&w->path, w->folder->source);
	if (w->path.failed)
		return refuse_nomem(w->why);
	if (visit(w, fd, 0) == -1)
		return -1;
	if (change)
		return 0;
	/* else it would be found out when other folders are labelled already */
	if (w->wrong > 0 && fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0)
		return refuse_set(w, EROFS);
	return check_linked(w, fd);
}

static int
check_hardlinks(struct why *why)
{
	switch (folders_hardlinks_protected()) {
	case 1:
		return 0;
	case 0:
		return refuse(why, WHY_CONFIG, "no folder is relabelled while anyone may give any file a name in it: sysctl "
		    "fs.protected_hardlinks=1");
	default:
		return refuse(why, WHY_IO, "/proc/sys/fs/protected_hardlinks: %s", strerror(errno));
	}
}

/* Of one user's helpers one at a time is at it: they would be in the way of all others, with what each needs. */
static int
stand_in_line(const struct peer *p, int *line, struct why *why)
{
	autoclose int locks = -1;
	char name[32];

	*line = -1;
	if (p->asker.uid == 0)
		return 0;
	snprintf(name, sizeof(name), "folders-%u", p->asker.uid);
	if ((locks = state_dir("locks", why)) == -1)
		return -1;
	if ((*line = state_lock(locks, name, LOCK_WAIT_MS, why)) != -1)
		return 0;
	return why->code != WHY_AGAIN ? -1 : refuse(why, WHY_AGAIN, "gpuhelper labels folders for another container of uid %u "
	    "at this moment: try again", p->asker.uid);
}

/* Those that are to be labelled; NULL: no memory. */
static struct relabelling *
gather(const struct label *l, const struct peer *p, const struct edits *e)
{
	struct relabelling *r = calloc(1, sizeof(*r));
	size_t i;

	if (r == NULL || (r->walk = calloc(e->mounts + 1, sizeof(*r->walk))) == NULL) {
		free(r);
		return NULL;
	}
	r->line = -1;
	for (i = 0; i < e->mounts && l->state != SELINUX_ABSENT; i++)
		if (e->mount[i].relabel != RELABEL_NO)
			r->walk[r->walks++] = (struct walk){ .label = l, .peer = p, .kept = &r->kept, .folder = &e->mount[i],
				.own = r->own };
	return r;
}

static int
look_at_walks(struct relabelling *r, const struct peer *p, struct why *why)
{
	int ret = 0;
	size_t i;

	r->begun = clock_ms();
	if (!selinux_own(r->own))
		return refuse(why, WHY_IO, "SELinux can't be asked: %s", strerror(errno));
	if (check_hardlinks(why) == -1 || stand_in_line(p, &r->line, why) == -1)
		return -1;
	end_after(STUCK_MS);
	for (i = 0; i < r->walks && ret == 0; i++) {
		r->walk[i].why = why;
		ret = walk(&r->walk[i], false, r->begun + LOOK_MS);
	}
	end_after(0);
	return ret;
}

int
relabel_look(const struct label *l, const struct peer *p, const struct edits *e, struct relabelling **out,
    struct why *why)
{
	if ((*out = gather(l, p, e)) == NULL)
		return refuse_nomem(why);
	if ((*out)->walks == 0 || look_at_walks(*out, p, why) == 0)
		return 0;
	relabel_free(*out);
	*out = NULL;
	return l->state == SELINUX_PERMISSIVE ? 0 : -1;
}

int
relabel_change(struct relabelling *r, struct why *why)
{
	int ret = 0;
	size_t i;

	if (r == NULL || r->walks == 0)
		return 0;
	end_after(STUCK_MS);
	for (i = 0; i < r->walks && ret == 0; i++) {
		r->walk[i].why = why;
		if (r->walk[i].wrong > 0)
			ret = walk(&r->walk[i], true, r->begun + CHANGE_MS);
	}
	end_after(0);
	return r->walk[0].label->state == SELINUX_PERMISSIVE ? 0 : ret;
}

void
relabel_free(struct relabelling *r)
{
	size_t i;

	if (r == NULL)
		return;
	for (i = 0; i < r->walks; i++)
		walk_free(&r->walk[i]);
	if (r->line != -1)
		close(r->line);
	free(r->walk);
	free(r);
}
