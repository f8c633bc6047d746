/*
 * See device.h.  Never opens a GPU (opening one does things to it), never acts
 * on a path: on the pinned node only.  The names come from gpu.h's tables.
 */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/trust.h"

/* The directory that holds a node, root's alone, and the node's name in it. */
static int
open_parent(const char *path, const char **name, struct why *why)
{
	char dir[64];
	const char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return refuse(why, WHY_BUG, "device %s has no directory", path);
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	*name = slash + 1;
	return trust_open_dir(dir, true, why);
}

static int
refuse_missing(const struct gpu_node *n, const struct inventory *inv, struct why *why)
{
	if (!text_starts(n->path, "/dev/nvidia"))
		return refuse(why, WHY_ABSENT, "%s is not there: is udev running, and the driver loaded?", n->path);
	if (!inv->nvidia_modify)
		return refuse(why, WHY_ABSENT, "%s is not there, and NVreg_ModifyDeviceFiles=0 leaves making it to you: "
		    "nvidia-modprobe -c0 -u", n->path);
	return refuse(why, WHY_ABSENT, "%s could not be made: nvidia-modprobe -c0 -u", n->path);
}

/*
 * Makes an NVIDIA node as nvidia-modprobe(1) does, by /proc/driver/nvidia/params.
 * It is born with its mode, for one that was killed before a chmod would leave
 * it closed for ever.  One that someone else makes meanwhile is left alone.
 */
static int
make_node(int dir, const char *name, const struct gpu_node *n, const struct inventory *inv, struct why *why)
{
	mode_t mask;
	int ret;

	if (!text_starts(n->path, "/dev/nvidia") || !inv->nvidia_modify)
		return refuse_missing(n, inv, why);
	mask = umask(0);
	ret = mknodat(dir, name, S_IFCHR | (inv->nvidia_mode & 0666U), makedev(n->major, n->minor));
	(void)umask(mask);
	if (ret == -1 && errno == EEXIST)
		return 0;
	if (ret == -1)
		return refuse(why, WHY_ABSENT, "%s can't be made: %s: nvidia-modprobe -c0 -u", n->path, strerror(errno));
	if (fchownat(dir, name, inv->nvidia_uid, inv->nvidia_gid, AT_SYMLINK_NOFOLLOW) == -1) {
		refuse(why, WHY_IO, "%s: %s", n->path, strerror(errno));
		(void)unlinkat(dir, name, 0);
		return -1;
	}
	return 0;
}

/* Pins the node; -1 with *why, or -2 where an optional one is not there. */
static int
pin(const struct gpu_node *n, const struct inventory *inv, struct stat *st, struct why *why)
{
	autoclose int dir = -1;
	const char *name = NULL;
	int fd;

	if ((dir = open_parent(n->path, &name, why)) == -1 || name == NULL)
		return n->optional ? -2 : -1;
	fd = file_open_beneath(dir, name, O_PATH);
	if (fd == -1 && errno == ENOENT) {
		if (n->optional)
			return -2;
		if (make_node(dir, name, n, inv, why) == -1)
			return -1;
		fd = file_open_beneath(dir, name, O_PATH);
	}
	if (fd == -1)
		return refuse(why, WHY_ABSENT, "%s: %s", n->path, errno == ELOOP ? "is a symbolic link" : strerror(errno));
	if (fstat(fd, st) == -1 || !S_ISCHR(st->st_mode)) {
		close(fd);
		return refuse(why, WHY_ABSENT, "%s is not a character device: remove it, the driver makes its own", n->path);
	}
	if (major(st->st_rdev) != n->major || minor(st->st_rdev) != n->minor) {
		close(fd);
		return refuse(why, WHY_ABSENT, "%s is device %u:%u and should be %u:%u: remove it, the driver makes its own",
		    n->path, major(st->st_rdev), minor(st->st_rdev), n->major, n->minor);
	}
	return fd;
}

/* A group that may use the node, as the container would have to have it; false if none helps. */
static bool
group_helps(const struct device_view *v, const struct stat *st, struct edits *out)
{
	uint32_t gid;
	size_t i;

	/* a rootless runtime can't add groups, and gid 0 is no group to give */
	if (!v->asker->enforced || st->st_gid == 0 || (st->st_mode & 0060) != 0060 ||
	    !idmap_in(v->subject->gidmap, st->st_gid, &gid))
		return false;
	for (i = 0; i < out->gids; i++)
		if (out->gid[i] == gid)
			return true;
	if (out->gids == sizeof(out->gid) / sizeof(out->gid[0]))
		return false;
	out->gid[out->gids++] = gid;
	return true;
}

static int
let_in(const struct device_view *v, int fd, const struct stat *st, const char *path, struct edits *out, struct why *why)
{
	/* where others may use it nothing is needed; a group helps every user of the container, not only this one */
	if ((st->st_mode & 0006) == 0006 || group_helps(v, st, out) || access_allowed(fd, v->subject, R_OK | W_OK))
		return 0;
	if (!v->subject->mapped)
		return refuse(why, WHY_DENIED, "%s: the container's user stands for no user of this host", path);
	return refuse(why, WHY_DENIED, "%s (mode %04o) does not let the container's user (uid %u here) in: "
	    "setfacl -m u:%u:rw %s", path, st->st_mode & 07777U, v->subject->uid, v->subject->uid, path);
}

int
device_add(const struct device_view *v, const struct gpu_node *n, struct edits *out, struct why *why)
{
	struct edit_node e = { .major = n->major, .minor = n->minor };
	struct stat st;
	int fd, ret;

	if (gpu_node_check(n, why) == -1)
		return -1;
	if ((fd = pin(n, v->inv, &st, why)) < 0)
		return fd == -2 ? 0 : -1;
	ret = let_in(v, fd, &st, n->path, out, why);
	close(fd);
	if (ret == -1)
		return -1;
	snprintf(e.path, sizeof(e.path), "%s", n->path);
	e.mode = st.st_mode & 0666;
	e.uid = st.st_uid;
	e.gid = st.st_gid;
	return edits_add_node(out, &e) ? 0 : refuse_nomem(why);
}

static int
add_nodes(const struct device_view *v, const struct gpu_node *nodes, size_t n, unsigned capabilities, struct edits *out,
    struct why *why)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (nodes[i].needed_for == 0 || (nodes[i].needed_for & capabilities) != 0)
			if (device_add(v, &nodes[i], out, why) == -1)
				return -1;
	return 0;
}

int
device_add_gpu(const struct device_view *v, const struct gpu *g, unsigned capabilities, struct edits *out,
    struct why *why)
{
	return add_nodes(v, g->node, g->nodes, capabilities, out, why);
}

int
device_add_common(const struct device_view *v, enum gpu_vendor vendor, unsigned capabilities, struct edits *out,
    struct why *why)
{
	return add_nodes(v, v->inv->common[vendor], v->inv->commons[vendor], capabilities, out, why);
}
