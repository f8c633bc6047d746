/*
 * See owncgroup.h. Must not trust the cgroup in which it is started: the caller may own it, down to the mode of each
 * file. Writes only to what is root's alone. The cgroup that it makes stays: another helper may be on its way into
 * it, and root may have set limits there.
 */
#include "owncgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/cgroup/cgroup.h"
#include "../../host/file.h"
#include "../../host/process/procdir.h"
#include "../../kernel/cgroupline.h"
#include "../self/spawn.h"

#define MOUNTS "/sys/fs/cgroup"
#define OWN "gpuhelper"
#define MOUNT_MAX 128
#define SHOWN_MAX 300		/* bytes of a path in a message */
#define TOP_INODE 1		/* inode of a hierarchy's topmost cgroup (kernel/cgroup/cgroup.c, cgroup_setup_root()) */

/*
 * The v1 controllers by which the owner of a cgroup can stop its processes, or nearly so. Not cpuset: a new cgroup
 * has no CPUs there, so that no process can enter it.
 */
static const char *const stopping[] = { "freezer", "memory", "pids", "cpu" };

/*
 * Files that must be root's alone in a cgroup, like its directory: by these others could freeze,
 * kill, starve or move us.
 */
static const struct control {
	const char *name;
	const char *v1, *v2;	/* the controller that has the file in that version; "": each has it; NULL: none has */
	bool top;		/* the topmost cgroup has it, too */
} controls[] = {
	{ "cgroup.procs", "", "", true }, { "tasks", "", NULL, true }, { "cgroup.threads", NULL, "", true },
	{ "cgroup.subtree_control", NULL, "", true }, { "cgroup.type", NULL, "", false }, { "cgroup.freeze", NULL, "", false },
	{ "cgroup.kill", NULL, "", false }, { "freezer.state", "freezer", NULL, false },
	{ "memory.max", NULL, "memory", false },
	{ "memory.high", NULL, "memory", false }, { "memory.limit_in_bytes", "memory", NULL, false },
	{ "memory.memsw.limit_in_bytes", "memory", NULL, false }, { "memory.kmem.limit_in_bytes", "memory", NULL, false },
	{ "memory.oom_control", "memory", NULL, false }, { "pids.max", "pids", "pids", false },
	{ "cpu.max", NULL, "cpu", false },
	{ "cpu.cfs_quota_us", "cpu", NULL, false }, { "cpu.cfs_period_us", "cpu", NULL, false },
};

static bool
matters(const char *controllers)
{
	size_t i;

	for (i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		if (cgroup_line_has(controllers, stopping[i]))
			return true;
	return *controllers == '\0';
}

static int
open_kind(const char *path, long magic)
{
	const int root = file_root();
	int fd = root == -1 ? -1 : file_open_beneath(root, path + 1, O_PATH | O_DIRECTORY);
	struct statfs fs;

	if (fd != -1 && fstatfs(fd, &fs) == 0 && (long)fs.f_type == magic)
		return fd;
	if (fd != -1)
		close(fd);
	return -1;
}

/* Opens the topmost directory of a hierarchy at its usual mount point. v2 is mounted beside v1 or in its place. */
static int
open_top(const char *controllers, char mount[MOUNT_MAX])
{
	int fd;

	if (*controllers != '\0')
		return snprintf(mount, MOUNT_MAX, MOUNTS "/%s", controllers) < MOUNT_MAX ?
		    open_kind(mount, CGROUP_SUPER_MAGIC) : -1;
	snprintf(mount, MOUNT_MAX, MOUNTS);
	if ((fd = open_kind(mount, CGROUP2_SUPER_MAGIC)) != -1)
		return fd;
	snprintf(mount, MOUNT_MAX, MOUNTS "/unified");
	return open_kind(mount, CGROUP2_SUPER_MAGIC);
}

static char *
read_own(struct why *why)
{
	char name[40], *text;

	snprintf(name, sizeof(name), "%d/cgroup", getpid());
	if ((text = procdir_read(name, 65536)) == NULL)
		refuse(why, WHY_IO, "/proc/self/cgroup: %s: is /proc mounted?", strerror(errno));
	return text;
}

/* The cgroup of that hierarchy that this process is in now. The caller frees it. NULL with *why. */
static char *
present_path(const char *controllers, struct why *why)
{
	autofree char *text = read_own(why);
	struct cgroup_line line;
	char *rest = text, *path = NULL;

	while (path == NULL && cgroup_line_next(&rest, &line))
		if (strcmp(line.controllers, controllers) == 0 && (path = strdup(line.path)) == NULL)
			break;
	if (text != NULL && path == NULL)
		refuse(why, WHY_IO, "/proc/self/cgroup has no line for the hierarchy \"%s\" any more", controllers);
	return path;
}

/* Checks that DIR/NAME is root's alone; if the name is empty, DIR itself. No such file is no error. */
static int
check_roots_alone(int dir, const char *name, const char *shown, struct why *why)
{
	const char *slash = *name != '\0' ? "/" : "";
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == -1)
		return *name != '\0' && errno == ENOENT ? 0 :
		    refuse(why, WHY_IO, "%s%s%s: %s", shown, slash, name, strerror(errno));
	if (st.st_uid == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	return refuse(why, WHY_DENIED, "%s%s%s is not root's alone (uid %u, mode %04o)", shown, slash, name, st.st_uid,
	    st.st_mode & 07777U);
}

/*
 * Looks only for files that exist. Once a cgroup was made in the directory, the kernel looks up a missing name
 * under the directory's lock, and any user who may list the directory can hold that lock.
 */
static int
check_cgroup(int dir, const char *controllers, const char *shown, struct why *why)
{
	autofree char *v2 = *controllers == '\0' ? file_read_at(dir, "cgroup.controllers", 4096, NULL) : NULL;
	struct stat st = { .st_ino = 0 };
	const struct control *c;
	const char *by;
	size_t i;

	for (i = 0; v2 != NULL && v2[i] != '\0'; i++)
		v2[i] = v2[i] <= ' ' ? ',' : v2[i];
	if (check_roots_alone(dir, "", shown, why) == -1 || fstat(dir, &st) == -1)
		return -1;
	for (c = controls; c < controls + sizeof(controls) / sizeof(controls[0]); c++) {
		by = *controllers == '\0' ? c->v2 : c->v1;
		if (by == NULL || (st.st_ino == TOP_INODE && !c->top) ||
		    (*by != '\0' && !cgroup_line_has(*controllers == '\0' ? v2 != NULL ? v2 : by : controllers, by)))
			continue;
		if (check_roots_alone(dir, c->name, shown, why) == -1)
			return -1;
	}
	return 0;
}

/* Checks that the cgroup «path» and all above it are root's alone; with «unsure», also that this process is in it. */
static int
check_chain(int top, const char *controllers, const char *mount, const char *path, bool unsure, struct why *why)
{
	autofree char *below = strdup(path + 1);
	char shown[SHOWN_MAX], *slash;

	if (below == NULL)
		return refuse_nomem(why);
	for (;; unsure = false) {
		autoclose int dir = *below != '\0' ? file_open_beneath(top, below, O_PATH | O_DIRECTORY) : dup(top);

		snprintf(shown, sizeof(shown), "%.100s%s%.190s", mount, *below != '\0' ? "/" : "", below);
		if (dir == -1)
			return refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
		/* only the kernel knows which hierarchy, and which part of it, is mounted there */
		if (unsure && !cgroup_lists(dir, ".", getpid()))
			return refuse(why, WHY_IO, "%s is not the cgroup that /proc/self/cgroup means", shown);
		if (check_cgroup(dir, controllers, shown, why) == -1)
			return -1;
		if (*below == '\0')
			return 0;
		slash = strrchr(below, '/');
		*(slash != NULL ? slash : below) = '\0';
	}
}

/* Moves a child along (spawn.h, «moves»). */
static bool
move_child(int procs, pid_t child)
{
	char pid[16];
	const int n = snprintf(pid, sizeof(pid), "%d", child);

	return write(procs, pid, (size_t)n) == n;
}

static int
move(int top, const char *mount, struct why *why)
{
	autoclose int dir = file_open_beneath(top, OWN, O_PATH | O_DIRECTORY), procs = -1;
	char shown[SHOWN_MAX];

	snprintf(shown, sizeof(shown), "%s/" OWN, mount);
	if (dir == -1)
		return refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	if (check_roots_alone(dir, "", shown, why) == -1 || check_roots_alone(dir, "cgroup.procs", shown, why) == -1)
		return -1;
	if ((procs = file_open_beneath(dir, "cgroup.procs", O_WRONLY)) == -1 || !spawned_move(move_child, procs) ||
	    write(procs, "0", 1) != 1)
		return refuse(why, WHY_IO, "%s/cgroup.procs: %s", shown, strerror(errno));
	return 0;
}

/* Leaves the cgroup of one hierarchy, and checks where the process is then. */
static int
leave_hierarchy(const char *controllers, struct why *why)
{
	char mount[MOUNT_MAX];
	autoclose int top = open_top(controllers, mount);
	struct why stays = { 0 }, theirs = { 0 };
	bool moved = top != -1 && move(top, mount, &stays) == 0;
	autofree char *now = present_path(controllers, why);

	if (now == NULL)
		return -1;
	/* nobody can be above the topmost cgroup; any other cgroup may be anyone's */
	if (top == -1)
		return strcmp(now, "/") == 0 ? 0 : refuse(why, WHY_DENIED, "%s is not mounted, so that gpuhelper can neither "
		    "leave its caller's cgroup there nor see whose that is: mount it where gpuhelper runs (%s)", mount, now);
	if (moved && strcmp(now, "/" OWN) != 0) {
		refuse(&stays, WHY_IO, "after the move, /proc/self/cgroup says %s", now);
		moved = false;
	}
	if (check_chain(top, controllers, mount, now, !moved, &theirs) == 0)
		return 0;
	return refuse(why, WHY_DENIED, "gpuhelper could be stopped in this cgroup, and can't leave it: mount %s writable "
	    "where it runs, or start containers from a cgroup that is root's alone (%s%s%s)", mount, theirs.text,
	    moved ? "" : "; ", stays.text);
}

void
make_own_cgroup(uid_t starter)
{
	struct why ignored;
	autofree char *text = starter == 0 ? NULL : read_own(&ignored);
	char mount[MOUNT_MAX], *rest = text;
	struct cgroup_line line;

	while (cgroup_line_next(&rest, &line)) {
		autoclose int top = matters(line.controllers) ? open_top(line.controllers, mount) : -1;

		/*
		 * Makes nothing if the cgroup exists: any user who may list a directory can block changes in it. With mode
		 * 0711 others can't list the new one, but can read a file in it whose name they know. fchmodat() sets that
		 * mode whatever the umask.
		 */
		if (top != -1 && faccessat(top, OWN, F_OK, AT_EACCESS) == -1 && errno == ENOENT && mkdirat(top, OWN, 0711) == 0)
			(void)!fchmodat(top, OWN, 0711, 0);
	}
}

static bool left;

bool
has_left_cgroup(void)
{
	return left;
}

int
leave_cgroup(uid_t starter, struct why *why)
{
	autofree char *text = NULL;
	struct cgroup_line line;
	char *rest;

	/* the limits of root's own cgroup, such as that of gpuhelper@.service, are meant for us */
	left = left || starter == 0;
	if (left)
		return 0;
	if ((text = read_own(why)) == NULL)
		return -1;
	rest = text;
	while (cgroup_line_next(&rest, &line))
		if (matters(line.controllers) && leave_hierarchy(line.controllers, why) == -1)
			return -1;
	/*
	 * The memory in use by now stays charged to the cgroup that was left. If it were swapped out, that cgroup's
	 * limit, which its owner sets, could keep it from coming back. Later memory is charged to our own.
	 */
	(void)mlockall(MCL_CURRENT);
	left = true;
	return 0;
}
