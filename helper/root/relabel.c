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
#include <unistd.h>

#include <selinux/selinux.h>

#include "../host/clock.h"
#include "../host/file.h"
#include "../pure/cleanup.h"

/* The wrapper waits for its answer for 10 s (user/ask.c). */
#define LOOK_MS 3000
#define CHANGE_MS 6000
#define ENTRIES_MAX 1000000
#define LINKED_MAX 65536
#define DEPTH_MAX 128
#define KNOWN_MAX 16

/* A file with several names. */
struct linked {
	uint64_t inode;
	uint32_t names, seen;	/* that it has, that were met in the folder */
	char *path;		/* the first of them */
};

/* Labels that were judged already. */
struct known {
	char has[SECONTEXT_MAX], gets[SECONTEXT_MAX];
	const char *class;
};

/* One folder on its way. */
struct walk {
	const struct label *label;
	const struct peer *peer;
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

/* By what stands for the descriptor: an O_PATH one can't be read by itself. */
static void
name_of(int fd, char out[40])
{
	snprintf(out, 40, "/proc/self/fd/%d", fd);
}

/* Which labels. */

static int
refuse_label(const struct walk *w, const char *has)
{
	return fail(w, WHY_DENIED, "gpuhelper may not relabel %s, which is labelled %s: setsebool -P "
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
		fail(w, WHY_IO, "%s has the SELinux label \"%.100s\", which is none: restorecon -RF %s", w->path.p, has,
		    w->folder->source);
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
	return fail(w, WHY_IO, "%s can't be labelled: %s: it is labelled in part by now: restorecon -RF %s", w->path.p,
	    strerror(error), w->folder->source);
}

static int
set(const struct walk *w, int fd, const struct known *k)
{
	char name[40];

	/* its lease ends with it, and another container may be next */
	if (!process_lives(w->peer->pid, w->peer->start))
		return fail(w, WHY_AGAIN, "who asked for it is gone");
	name_of(fd, name);
	return setfilecon_raw(name, k->gets) == -1 ? refuse_set(w, errno) : 0;
}

/* Files with several names. */

static int
by_inode(const void *a, const void *b)
{
	const struct linked *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static struct linked *
find_linked(const struct walk *w, uint64_t inode)
{
	const struct linked key = { .inode = inode };
	struct linked *const *at = tfind(&key, &w->by_inode, by_inode);

	return at != NULL ? *at : NULL;
}

static struct linked *
add_linked(struct walk *w, uint64_t inode)
{
	struct linked **v, *l;

	if ((v = reallocarray(w->linked, w->linkeds + 1, sizeof(struct linked *))) == NULL)
		return NULL;
	w->linked = v;
	if ((l = calloc(1, sizeof(*l))) == NULL)
		return NULL;
	l->inode = inode;
	l->path = strdup(w->path.p);
	if (l->path == NULL || tsearch(l, &w->by_inode, by_inode) == NULL) {
		free(l->path);
		free(l);
		return NULL;
	}
	v[w->linkeds++] = l;
	return l;
}

static int
count_name(struct walk *w, const struct statx *st)
{
	struct linked *l = find_linked(w, st->stx_ino);

	if (l == NULL && w->linkeds >= LINKED_MAX)
		return fail(w, WHY_DENIED, "more than %d files in it have several names, and can't be relabelled: chcon -R -t "
		    SECONTEXT_FILE_TYPE " %s", LINKED_MAX, w->folder->source);
	if (l == NULL && (l = add_linked(w, st->stx_ino)) == NULL)
		return refuse_nomem(w->why);
	l->seen++;
	if (st->stx_nlink > l->names)
		l->names = st->stx_nlink;
	return 0;
}

/* One of the names may have been for a moment (a file is written beside, linked, unlinked): then it is gone by now. */
static int
check_names(const struct walk *w, int folder, struct linked *l)
{
	autoclose int fd = file_open_beneath(folder, l->path + strlen(w->folder->source) + 1, O_PATH);
	struct statx st;

	if (fd == -1 || statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_NLINK, &st) == -1 || st.stx_ino != l->inode) {
		l->names = 0;	/* it is another one's by now, and of no concern */
		return 0;
	}
	l->names = st.stx_nlink;
	return l->names <= l->seen ? 0 : fail(w, WHY_DENIED, "%s has %u names, and only %u of them are in the folder: the "
	    "others would get its label, too: copy it, or chcon -t " SECONTEXT_FILE_TYPE " %s", l->path, l->names, l->seen,
	    l->path);
}

static int
check_linked(const struct walk *w, int folder)
{
	size_t i;

	for (i = 0; i < w->linkeds; i++)
		if (w->linked[i]->names > w->linked[i]->seen && check_names(w, folder, w->linked[i]) == -1)
			return -1;
	return 0;
}

/* All of its names were met here, and there is none more since. */
static bool
is_within(const struct walk *w, const struct statx *st)
{
	const struct linked *l = st->stx_nlink > 1 ? find_linked(w, st->stx_ino) : NULL;

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
		    "the SELinux label of %s can't be read: %s", w->path.p, strerror(errno));
	if ((k = judge(w, has, class)) == NULL)
		return -1;
	if (strcmp(has, k->gets) == 0)
		return 0;
	w->wrong++;
	if (w->change)
		return S_ISDIR(st->stx_mode) || is_within(w, st) ? set(w, fd, k) : 0;
	return S_ISDIR(st->stx_mode) || st->stx_nlink <= 1 ? 0 : count_name(w, st);
}

static int
check_budget(struct walk *w)
{
	if (++w->entries <= ENTRIES_MAX && clock_ms() <= w->until)
		return 0;
	return fail(w, WHY_AGAIN, "there is too much in it to be labelled while a container waits%s: label it once "
	    "(chcon -R -t " SECONTEXT_FILE_TYPE " -l s0 %s), and take relabel out of the policy", w->change ?
	    ", and it is labelled in part by now" : "", w->folder->source);
}

static int visit(struct walk *w, int fd, unsigned depth);

static int
visit_name(struct walk *w, int dir, const char *name, unsigned depth)
{
	autoclose int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	const size_t len = w->path.len;
	const int error = errno;
	int ret;

	if (fd == -1 && error == ENOENT)
		return 0;
	buf_printf(&w->path, "/%s", name);
	if (w->path.failed)
		return refuse_nomem(w->why);
	ret = fd != -1 ? visit(w, fd, depth) : fail(w, WHY_IO, "%s: %s", w->path.p, strerror(error));
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
		return fail(w, WHY_IO, "%s: %s", w->path.p, strerror(ret));
	}
	while (ret == 0 && (errno = 0, e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			ret = visit_name(w, dir, e->d_name, depth + 1);
	if (ret == 0 && errno != 0)
		ret = fail(w, WHY_IO, "%s: %s", w->path.p, strerror(errno));
	closedir(d);
	return ret;
}

static int
visit(struct walk *w, int fd, unsigned depth)
{
	const char *class;
	struct statx st;

	if (check_budget(w) == -1)
		return -1;
	errno = 0;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_NLINK | STATX_MNT_ID, &st) == -1 ||
	    !(st.stx_mask & STATX_MNT_ID))
		return fail(w, WHY_IO, "it can't be seen what %s is: %s", w->path.p, errno != 0 ? strerror(errno) :
		    "on which mount? (needs Linux 5.8)");
	if (depth == 0)
		w->mount = st.stx_mnt_id;
	if (st.stx_mnt_id != w->mount || (class = class_of(st.stx_mode)) == NULL)
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
	return change ? 0 : check_linked(w, fd);
}

/* proc_sys_fs(5). */
static int
check_hardlinks(struct why *why)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = root != -1 ? file_read_at(root, "proc/sys/fs/protected_hardlinks", 16, NULL) : NULL;

	if (text == NULL)
		return refuse(why, WHY_IO, "/proc/sys/fs/protected_hardlinks: %s", strerror(errno));
	return text[0] != '0' ? 0 : refuse(why, WHY_CONFIG, "no folder is relabelled while anyone may give any file a name in "
	    "it: sysctl fs.protected_hardlinks=1");
}

/* All are looked at before the first is changed. */
static int
walk_all(struct walk *walks, size_t n)
{
	const int64_t now = clock_ms();
	size_t i;

	for (i = 0; i < n; i++)
		if (walk(&walks[i], false, now + LOOK_MS) == -1)
			return -1;
	for (i = 0; i < n; i++)
		if (walks[i].wrong > 0 && walk(&walks[i], true, now + CHANGE_MS) == -1)
			return -1;
	return 0;
}

int
relabel_folders(const struct label *l, const struct peer *p, const struct edits *e, struct why *why)
{
	autofree struct walk *walks = calloc(e->mounts + 1, sizeof(*walks));
	char own[SECONTEXT_MAX];
	size_t i, n = 0;
	int ret;

	if (walks == NULL)
		return refuse_nomem(why);
	for (i = 0; i < e->mounts && l->state != SELINUX_ABSENT; i++)
		if (e->mount[i].relabel != RELABEL_NO)
			walks[n++] = (struct walk){ .label = l, .peer = p, .folder = &e->mount[i], .own = own, .why = why };
	if (n == 0)
		return 0;
	if (!selinux_own(own))
		return refuse(why, WHY_IO, "SELinux can't be asked: %s", strerror(errno));
	ret = check_hardlinks(why) == -1 ? -1 : walk_all(walks, n);
	for (i = 0; i < n; i++)
		walk_free(&walks[i]);
	return l->state == SELINUX_PERMISSIVE ? 0 : ret;
}
