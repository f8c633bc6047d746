/*
 * See rootfs.h.  The image may be anyone's: its links are followed only inside
 * it (RESOLVE_IN_ROOT), and nothing in it is opened for reading or writing.
 */
#include "rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../host/file.h"
#include "../pure/cleanup.h"
#include "../pure/path.h"

static bool
lies_beneath(const char *path, const char *dir)
{
	autofree char *real = realpath(dir, NULL);

	return real != NULL && path_is_beneath(path, real);
}

int
rootfs_open(const struct spec *s, const char *bundle, const struct settings *settings, int *fd, char **path,
    struct why *why)
{
	autofree char *given = NULL;
	size_t i;
	bool ok;

	*fd = -1;
	*path = NULL;
	if (s->root_path == NULL || *s->root_path == '\0')
		return refuse(why, WHY_DATA, "config.json: root.path is missing");
	if (s->root_path[0] == '/')
		given = strdup(s->root_path);
	else if (asprintf(&given, "%s/%s", bundle, s->root_path) == -1)
		given = NULL;
	if (given == NULL)
		return refuse_nomem(why);
	if ((*path = realpath(given, NULL)) == NULL)
		return refuse(why, WHY_DATA, "config.json: root.path %s: %s", given, strerror(errno));
	ok = path_is_beneath(*path, bundle);
	for (i = 0; !ok && i < settings->volumes.n; i++)
		ok = lies_beneath(*path, settings->volumes.v[i]);
	if (!ok)
		return refuse(why, WHY_DENIED, "root.path %s is not beneath the bundle or one of the volumes in gpuhelper.conf: "
		    "if this is where the engine keeps its images, add it there", *path);
	if ((*fd = open(*path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return refuse(why, WHY_DATA, "root.path %s: %s", *path, strerror(errno));
	return 0;
}

/* Where «path» of the container leads: the longest part that is there, its links resolved in the root; and the rest. */
static int
resolve(int root, const char *rootpath, const char *path, char **out, struct why *why)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	autofree char *part = strdup(path);
	char link[40], real[4352];
	const char *inside;
	size_t len;
	ssize_t n;
	int fd;

	if (part == NULL)
		return refuse_nomem(why);
	for (len = strlen(part);; part[len] = '\0') {
		fd = (int)syscall(SYS_openat2, root, len > 0 ? part : "/", &how, sizeof(how));
		if (fd != -1)
			break;
		if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
			return refuse(why, WHY_DATA, "%s in the container: %s", path, strerror(errno));
		if (errno == ELOOP)
			return refuse(why, WHY_DATA, "%s in the container goes through links without end", path);
		while (len > 0 && part[--len] != '/')
			;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	close(fd);
	if (n <= 0)
		return refuse(why, WHY_DATA, "%s in the container can't be followed", path);
	real[n] = '\0';
	if (!path_at_or_beneath(real, rootpath))
		return refuse(why, WHY_DATA, "%s in the container leads out of its root", path);
	inside = real + (strcmp(rootpath, "/") == 0 ? 0 : strlen(rootpath));
	if (asprintf(out, "%s%s", inside, path + len) == -1)
		return refuse_nomem(why);
	return 0;
}

static int
check_pair(const char *target, const struct spec_mount *m, int root, const char *rootpath, struct why *why)
{
	autofree char *ours = NULL, *theirs = NULL;

	if (resolve(root, rootpath, target, &ours, why) == -1 || resolve(root, rootpath, m->target, &theirs, why) == -1 ||
	    ours == NULL || theirs == NULL)
		return -1;
	if (path_related(target, m->target) || path_related(*ours ? ours : "/", *theirs ? theirs : "/"))
		return refuse(why, WHY_DENIED, "the container mounts %s, which would cover or lie in %s that is granted to it: "
		    "move that input, output or cache elsewhere", m->target, target);
	return 0;
}

/* The file systems that every container has; a granted node lies in /dev by nature. */
static bool
is_standard(const struct spec_mount *m)
{
	static const char *const types[] = { "proc", "tmpfs", "devpts", "mqueue", "sysfs", "cgroup", "cgroup2", NULL };
	size_t i;

	for (i = 0; !m->bind && m->type != NULL && types[i] != NULL; i++)
		if (strcmp(m->type, types[i]) == 0)
			return path_at_or_beneath(m->target, "/dev") || path_at_or_beneath(m->target, "/proc") ||
			    path_at_or_beneath(m->target, "/sys");
	return false;
}

int
rootfs_check_conflicts(const struct spec *s, int fd, const char *path, const struct edits *e, struct why *why)
{
	const struct spec_mount *m;
	struct why inner;
	size_t i, k;

	for (i = 0; i < s->mount_count; i++) {
		m = &s->mount[i];
		if (is_standard(m))
			continue;
		if (path_check(m->target, &inner) == -1)
			return refuse(why, WHY_DATA, "a mount of the container: %s", inner.text);
		for (k = 0; k < e->mounts; k++)
			if (check_pair(e->mount[k].target, m, fd, path, why) == -1)
				return -1;
		for (k = 0; k < e->nodes; k++)
			if (check_pair(e->node[k].path, m, fd, path, why) == -1)
				return -1;
	}
	return 0;
}
