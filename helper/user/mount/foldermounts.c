/* See foldermounts.h. Reads the container's mount table, in which no entry is a path on the host. */
#include "foldermounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/folder/mounts.h"
#include "../../host/rootfile.h"

/* A target, and whether the wanted folder is mounted there. */
struct target {
	const char *wanted;	/* "FILE-SYSTEM PLACE" */
	const char *point;	/* the target, where no link leads there */
	bool any, is;
};

/*
 * All targets, so that one pass over the mount table is enough: there may be a thousand targets and as many mounts.
 */
struct targets {
	struct target *t;		/* in the order of the grant */
	struct target **by_point;	/* in the order of their targets */
	size_t n;
};

/* A target that lies behind a link of the image, and the id of the mount there. */
struct linked_target {
	struct target *t;
	uint64_t id;
};

void
folder_mounts_free(struct folder_mounts *p)
{
	strlist_free(&p->target);
	strlist_free(&p->fs_path);
}

int
folder_mounts_of(const struct edits *e, struct folder_mounts *out, struct why *why)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].fs_path != NULL && (!strlist_add(&out->target, e->mount[i].target, SIZE_MAX) ||
		    !strlist_add(&out->fs_path, e->mount[i].fs_path, SIZE_MAX)))
			return refuse_nomem(why);
	return 0;
}

/*
 * For NFS, the kernel shows "/" as the place of every mount (fs/nfs/super.c, nfs_show_path()), so only the file
 * system is compared. *type caches the mount's type, because mount_type() works only once; NULL: not read yet.
 */
static bool
is_wanted(const char *wanted, struct mount *m, const char **type)
{
	const size_t n = strlen(m->fs);

	if (strncmp(wanted, m->fs, n) != 0 || wanted[n] != ' ')
		return false;
	if (strcmp(wanted + n + 1, m->root) == 0)
		return true;
	if (*type == NULL)
		*type = mount_type(m);
	return text_starts(*type, "nfs");
}

/*
 * If several mounts are stacked at the target, each must be the wanted one: the table's order does not say which is
 * on top.
 */
static void
see_mount(struct target *t, bool is)
{
	t->is = is && (t->is || !t->any);
	t->any = true;
}

static int
by_point(const void *a, const void *b)
{
	const struct target *const *x = a, *const *y = b;

	return strcmp((*x)->point, (*y)->point);
}

/* The index of the first target that is not before «point». */
static size_t
lower_bound(const struct targets *g, const char *point)
{
	size_t low = 0, high = g->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(g->by_point[middle]->point, point) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
see_mount_at(void *ctx, struct mount *m)
{
	struct targets *g = ctx;
	const char *type = NULL;
	size_t i;

	for (i = lower_bound(g, m->point); i < g->n && strcmp(g->by_point[i]->point, m->point) == 0; i++)
		see_mount(g->by_point[i], is_wanted(g->by_point[i]->wanted, m, &type));
	return false;
}

static bool
see_mount_by_id(void *ctx, struct mount *m)
{
	struct linked_target *link = ctx;
	const char *type = NULL;

	if (m->id == link->id)
		see_mount(link->t, is_wanted(link->t->wanted, m, &type));
	return false;
}

/*
 * Finds the mount to which the target leads through links of the image. If an unprivileged user started the
 * runtime, only root may follow /proc/PID/root (ptrace(2): the runtime's program is not dumpable).
 */
static int
find_target_mount(int proc, const char *pid, const char *target, uint64_t *id, struct why *why)
{
	autoclose int root = -1, fd = -1;
	char top[32];

	snprintf(top, sizeof(top), "%s/root", pid);
	if ((root = openat(proc, top, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1 && errno == EACCES)
		return refuse(why, WHY_IO, "%s in the container: the runtime mounted nothing there, and an unprivileged user can't "
		    "see where a link of the image leads: give the folder a target without symbolic links", target);
	if (root == -1)
		return refuse(why, WHY_IO, "/proc/%s: %s", top, strerror(errno));
	if ((fd = rootfile_open(root, target, O_PATH, NULL)) == -1 || !mount_of(fd, id))
		return refuse(why, WHY_IO, "%s in the container: can't see the runtime's mount there: %s", target,
		    strerror(errno));
	return 0;
}

static int
read_mounts(int proc, const char *pid, mount_test *test, void *ctx, struct why *why)
{
	return mounts_any(proc, pid, test, ctx) != -1 ? 0 :
	    refuse(why, WHY_IO, "/proc/%s/mountinfo: %s", pid, strerror(errno));
}

static int
check_target(int proc, const char *pid, struct target *t, struct why *why)
{
	struct linked_target link = { .t = t };

	if (!t->any && (find_target_mount(proc, pid, t->point, &link.id, why) == -1 ||
	    read_mounts(proc, pid, see_mount_by_id, &link, why) == -1))
		return -1;
	return t->is ? 0 : refuse(why, WHY_DENIED, "a granted folder (%.300s, by file system and path) is not what the "
	    "runtime mounted at %s: someone redirected its path meanwhile", t->wanted, t->point);
}

static int
check_all(int proc, const char *pid, struct targets *g, struct why *why)
{
	size_t i;

	qsort(g->by_point, g->n, sizeof(*g->by_point), by_point);
	if (read_mounts(proc, pid, see_mount_at, g, why) == -1)
		return -1;
	for (i = 0; i < g->n; i++)
		if (check_target(proc, pid, &g->t[i], why) == -1)
			return -1;
	return 0;
}

int
folder_mounts_check(pid_t pid, const struct folder_mounts *p, struct why *why)
{
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autofree struct target *t = calloc(p->fs_path.n + 1, sizeof(*t)), **sorted = calloc(p->fs_path.n + 1, sizeof(*sorted));
	struct targets g = { t, sorted, p->fs_path.n };
	char name[24];
	size_t i;

	snprintf(name, sizeof(name), "%d", pid);
	if (proc == -1)
		return refuse(why, WHY_IO, "/proc: %s", strerror(errno));
	if (t == NULL || sorted == NULL)
		return refuse_nomem(why);
	for (i = 0; i < g.n; i++) {
		t[i] = (struct target){ .wanted = p->fs_path.v[i], .point = p->target.v[i] };
		sorted[i] = &t[i];
	}
	return g.n > 0 ? check_all(proc, name, &g, why) : 0;
}
