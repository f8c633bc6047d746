/* See rootfile.h. Must never write. */
#include "rootfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "file.h"
#include "listing.h"

#define NAMES_MAX 10000
#define TRIES 64

/* The path of the descriptor's file, by the host's mounts. False with errno. */
static bool
path_behind(int fd, char *out, size_t size)
{
	char link[FILE_LINK_MAX];
	const ssize_t n = readlink(file_link(fd, link), out, size);

	if (n < 0)
		return false;
	if ((size_t)n >= size) {
		errno = ENAMETOOLONG;
		return false;
	}
	out[n] = '\0';
	return true;
}

/* The path of fd's file beneath root. The caller frees it; NULL with errno. */
static char *
path_in(int root, int fd)
{
	char top[4096], path[4096];

	if (!path_behind(root, top, sizeof(top)) || !path_behind(fd, path, sizeof(path)))
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
	unsigned tries = TRIES;
	char top[4096];
	int fd, error;

	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY | O_NONBLOCK;
	/* the kernel can't follow «..» while anything on the host is renamed or mounted */
	do
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	while (fd == -1 && errno == EAGAIN && --tries > 0);
	/*
	 * systemd denies openat2(2) to a service with RestrictSUIDSGID=; for the root "/", open(2) does the
	 * same
	 */
	if (fd == -1 && (errno == ENOSYS || errno == EPERM) && *path == '/' && path_behind(root, top, sizeof(top)) &&
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

int
rootfile_list(int root, const char *path, struct strlist *out, struct why *why)
{
	const int fd = rootfile_open(root, path, O_RDONLY | O_DIRECTORY, NULL);

	if ((fd == -1 && errno == ENOENT) || listing_names(fd, NAMES_MAX, out) == 0)
		return 0;
	if (errno == E2BIG)
		return refuse(why, WHY_IO, "%.200s: more than %d entries", path, NAMES_MAX);
	return errno == ENOMEM ? refuse_nomem(why) : refuse(why, WHY_IO, "%.200s: %s", path, strerror(errno));
}
