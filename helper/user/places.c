/* See places.h. Reads the kernel's table of the container's mounts. Must use no path of the host. */
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/mounts.h"
#include "../host/rootfile.h"
#include "../pure/cleanup.h"

/* What is mounted at one target. */
struct met {
	const char *wanted;	/* "FILE-SYSTEM PLACE" */
	const char *point;	/* the target, if no link leads there */
	uint64_t id;		/* of the mount, if links lead there; otherwise 0 */
	bool any, is;
};

void
granted_places_free(struct granted_places *p)
{
	strlist_free(&p->target);
	strlist_free(&p->place);
}

int
places_of(const struct edits *e, struct granted_places *out, struct why *why)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].place != NULL && (!strlist_add(&out->target, e->mount[i].target, SIZE_MAX) ||
		    !strlist_add(&out->place, e->mount[i].place, SIZE_MAX)))
			return refuse_nomem(why);
	return 0;
}

/*
 * For every NFS mount, the kernel shows the top of the file system as the place (nfs_show_path() in
 * fs/nfs/super.c).
 */
static bool
is_granted_place(const char *wanted, struct mount *m)
{
	const size_t n = strlen(m->fs);

	return strncmp(wanted, m->fs, n) == 0 && wanted[n] == ' ' &&
	    (strcmp(wanted + n + 1, m->place) == 0 || text_starts(mount_type(m), "nfs"));
}

/*
 * Of several mounts at one point, each must be the wanted one: the table's order does not tell which one is
 * on top.
 */
static bool
compare_mount(void *ctx, struct mount *m)
{
	struct met *met = ctx;

	if (met->id != 0 ? m->id != met->id : strcmp(m->point, met->point) != 0)
		return false;
	met->any = true;
	met->is = is_granted_place(met->wanted, m);
	return !met->is;
}

/*
 * Finds the mount that the target leads to through links of the image. For a runtime that an unprivileged
 * user started, the kernel shows the root directory only to root, because the runtime is not dumpable
 * (ptrace(2)).
 */
static int
follow_target(int proc, const char *pid, const char *target, uint64_t *id, struct why *why)
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
		return refuse(why, WHY_IO, "%s in the container: what the runtime mounted there can't be seen: %s", target,
		    strerror(errno));
	return 0;
}

static int
look_at_mounts(int proc, const char *pid, struct met *met, struct why *why)
{
	return mounts_any(proc, pid, compare_mount, met) != -1 ? 0 :
	    refuse(why, WHY_IO, "/proc/%s/mountinfo: %s", pid, strerror(errno));
}

static int
check_mounted_place(int proc, const char *pid, const char *target, const char *place, struct why *why)
{
	struct met met = { .wanted = place, .point = target };

	if (look_at_mounts(proc, pid, &met, why) == -1)
		return -1;
	if (!met.any && (follow_target(proc, pid, target, &met.id, why) == -1 || look_at_mounts(proc, pid, &met, why) == -1))
		return -1;
	return met.is ? 0 : refuse(why, WHY_DENIED, "a granted folder (%.300s, by file system and path) is not what the "
	    "runtime mounted at %s: someone redirected its path meanwhile", place, target);
}

int
places_check(pid_t pid, const struct granted_places *p, struct why *why)
{
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[24];
	size_t i;

	snprintf(name, sizeof(name), "%d", pid);
	if (proc == -1)
		return refuse(why, WHY_IO, "/proc: %s", strerror(errno));
	for (i = 0; i < p->place.n; i++)
		if (check_mounted_place(proc, name, p->target.v[i], p->place.v[i], why) == -1)
			return -1;
	return 0;
}
