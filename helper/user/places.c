/* See places.h.  Reads the kernel's table of the container's mounts, which names nothing by a path on the host. */
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

/* A mount that is met at a target. */
struct met {
	uint64_t id;
	const char *wanted;	/* "FILE-SYSTEM PLACE" */
	bool is;
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

/* Of every mount of NFS the kernel says that the top is mounted (fs/nfs/super.c, nfs_show_path()). */
static bool
compare(void *ctx, struct mount *m)
{
	struct met *met = ctx;
	const size_t n = strlen(m->fs);

	if (m->id != met->id)
		return false;
	met->is = strncmp(met->wanted, m->fs, n) == 0 && met->wanted[n] == ' ' &&
	    (strcmp(met->wanted + n + 1, m->place) == 0 || text_starts(mount_type(m), "nfs"));
	return true;
}

/* «target» leads through links of the image where the runtime's path led; a mount's own top is what a mount is at. */
static int
check_place(int proc, int root, const char *pid, const char *target, const char *place, struct why *why)
{
	autoclose int fd = rootfile_open(root, target, O_PATH, NULL);
	struct met met = { .wanted = place };

	if (fd == -1 || !mount_of(fd, &met.id))
		return refuse(why, WHY_IO, "%s in the container: what the runtime mounted there can't be seen: %s", target,
		    strerror(errno));
	if (mounts_any(proc, pid, compare, &met) == -1)
		return refuse(why, WHY_IO, "/proc/%s/mountinfo: %s", pid, strerror(errno));
	return met.is ? 0 : refuse(why, WHY_DENIED, "a granted folder (%.300s, by file system and path) is not what the "
	    "runtime mounted at %s: someone led its path elsewhere meanwhile", place, target);
}

int
places_check(pid_t pid, const struct granted_places *p, struct why *why)
{
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), root = -1;
	char name[24], top[32];
	size_t i;

	snprintf(name, sizeof(name), "%d", pid);
	snprintf(top, sizeof(top), "%d/root", pid);
	if (proc == -1 || (root = openat(proc, top, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "/proc/%s: %s", top, strerror(errno));
	for (i = 0; i < p->place.n; i++)
		if (check_place(proc, root, name, p->target.v[i], p->place.v[i], why) == -1)
			return -1;
	return 0;
}
