/* See rootfile.h.  Reads only. */
#include "rootfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "file.h"

#define NAMES_MAX 10000

/* What the descriptor is open on, by its path among the host's mounts; false with errno. */
static bool
path_of(int fd, char *out, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if ((n = readlink(link, out, size)) < 0)
		return false;
	if ((size_t)n >= size) {
		errno = ENAMETOOLONG;
		return false;
	}
	out[n] = '\0';
	return true;
}

/* That path as it is beneath the root. */
static char *
path_in(int root, int fd)
{
	char top[4096], path[4096];

	if (!path_of(root, top, sizeof(top)) || !path_of(fd, path, sizeof(path)))
		return NULL;
	if (strcmp(top, "/") == 0 || strcmp(top, path) == 0)
		return strdup(strcmp(top, path) == 0 ? "/" : path);
	if (!path_is_beneath(path, top)) {
		errno = EXDEV;
		return NULL;
	}
	return strdup(path + strlen(top));
}

int
rootfile_open(int root, const char *path, int flags, char **real)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char top[4096];
	int fd, error;

	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY | O_NONBLOCK;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	/* systemd takes openat2(2) away from a service that says RestrictSUIDSGID=; with "/" for a root open(2) does */
	if (fd == -1 && (errno == ENOSYS || errno == EPERM) && *path == '/' && path_of(root, top, sizeof(top)) &&
	    strcmp(top, "/") == 0)
		fd = open(path, (int)how.flags);
	if (fd == -1)
		return -1;
	if (real != NULL && (*real = path_in(root, fd)) == NULL) {
		error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int
rootfile_list(int root, const char *path, struct strlist *out, struct why *why)
{
	int fd = rootfile_open(root, path, O_RDONLY | O_DIRECTORY, NULL), ret = 0;
	struct dirent *e;
	DIR *d;

	if (fd == -1 && errno == ENOENT)
		return 0;
	if (fd == -1 || (d = fdopendir(fd)) == NULL) {
		ret = refuse(why, WHY_IO, "%.200s: %s", path, strerror(errno));
		if (fd != -1)
			close(fd);
		return ret;
	}
	while (ret == 0 && (errno = 0, e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (out->n == NAMES_MAX)
			ret = refuse(why, WHY_IO, "%.200s: more than %d entries", path, NAMES_MAX);
		else if (!strlist_add(out, e->d_name, SIZE_MAX))
			ret = refuse_nomem(why);
	}
	if (ret == 0 && errno != 0)
		ret = refuse(why, WHY_IO, "%.200s: %s", path, strerror(errno));
	closedir(d);
	if (out->n > 1)
		qsort(out->v, out->n, sizeof(out->v[0]), by_name);
	return ret;
}
