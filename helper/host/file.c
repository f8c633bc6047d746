/*
 * See file.h. Must never write. Assumes that the caller trusts «dirfd»; beneath it, any user may have made
 * anything.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../base/cleanup.h"

/* Opens one component that is no link. */
static int
open_part(int dir, const char *part, int how)
{
	const int fd = strcmp(part, "..") != 0 ? openat(dir, part, how | O_NOFOLLOW) : -1;
	int saved = strcmp(part, "..") != 0 ? errno : EXDEV;
	struct stat st;

	/* the kernel says ENOTDIR for a link, too; callers report a link by ELOOP */
	if (fd == -1 && saved == ENOTDIR && fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		saved = ELOOP;
	/* with O_PATH and O_NOFOLLOW, open(2) opens the link itself */
	if (fd == -1 || (how & O_PATH) == 0 || (how & O_DIRECTORY) != 0 || fstat(fd, &st) == -1 || !S_ISLNK(st.st_mode)) {
		errno = saved;
		return fd;
	}
	close(fd);
	errno = ELOOP;
	return -1;
}

/*
 * file_open_beneath() without openat2(2): opens one component after the other, none of them a link. The
 * helper's own filter denies openat2 (root/self/filter.c), and so does systemd for a service with
 * RestrictSUIDSGID=.
 */
static int
walk_beneath(int dirfd, const char *path, int flags)
{
	autofree char *copy = NULL;
	char *part, *save = NULL, *next;
	int dir = dirfd, fd = -1, saved;

	if (*path != '\0' && strchr(path, '/') == NULL)
		return open_part(dirfd, path, flags);
	copy = strdup(path);
	if (copy == NULL)
		return -1;
	if (*path == '/') {
		errno = EXDEV;
		return -1;
	}
	for (part = strtok_r(copy, "/", &save); part != NULL; part = next) {
		next = strtok_r(NULL, "/", &save);
		fd = open_part(dir, part, next != NULL ? O_PATH | O_DIRECTORY | O_CLOEXEC : flags);
		saved = errno;
		if (dir != dirfd)
			close(dir);
		if ((dir = fd) == -1) {
			errno = saved;
			return -1;
		}
	}
	if (fd == -1)
		errno = ENOENT;
	return fd;
}

/* True if a filter denies openat2(2), rather than the file that was asked for: both give EPERM. */
static bool
is_refused_openat2(void)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	const int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));

	if (fd != -1)
		close(fd);
	return fd == -1;
}

int
file_open_beneath(int dirfd, const char *path, int flags)
{
	static bool without;		/* this process has no openat2(2) */
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY | O_NONBLOCK;
	if (without)
		return walk_beneath(dirfd, path, (int)how.flags);
	fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	if (fd != -1 || (errno != ENOSYS && errno != EPERM))
		return fd;
	without = errno == ENOSYS || is_refused_openat2();
	return walk_beneath(dirfd, path, (int)how.flags);
}

static int root_dir = -1;

int
file_root(void)
{
	if (root_dir == -1)
		root_dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root_dir;
}

void
file_forget_root(void)
{
	root_dir = -1;
}

char *
file_read_stated(int fd, const struct stat *st, size_t max, size_t *len)
{
	autofree char *buf = NULL;
	size_t have = 0, cap = 0;
	ssize_t n;
	char *p;

	if (!S_ISREG(st->st_mode)) {
		errno = EINVAL;
		return NULL;
	}
	/* procfs and sysfs report size 0 or one page, so read until the end */
	for (;;) {
		if (cap - have < 2) {
			cap = cap ? cap * 2 : (st->st_size > 0 && (size_t)st->st_size < max ? (size_t)st->st_size + 2 : 4096);
			if ((p = realloc(buf, cap)) == NULL)
				return NULL;
			buf = p;
		}
		n = pread(fd, buf + have, cap - have - 1, (off_t)have);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return NULL;
		if (n == 0)
			break;
		have += (size_t)n;
		if (have > max) {
			errno = EFBIG;
			return NULL;
		}
		/* as many bytes as st_size says, although there was room for more: this is the end */
		if (have == (size_t)st->st_size)
			break;
	}
	buf[have] = '\0';
	if (len != NULL)
		*len = have;
	p = buf;
	buf = NULL;
	return p;
}

char *
file_read_fd(int fd, size_t max, size_t *len)
{
	struct stat st;

	return fstat(fd, &st) == -1 ? NULL : file_read_stated(fd, &st, max, len);
}

char *
file_read_at(int dirfd, const char *path, size_t max, size_t *len)
{
	autoclose int fd = file_open_beneath(dirfd, path, O_RDONLY);

	return fd == -1 ? NULL : file_read_fd(fd, max, len);
}

DIR *
file_list(int fd)
{
	DIR *d = fd != -1 ? fdopendir(fd) : NULL;
	const int saved = errno;

	if (d == NULL && fd != -1)
		close(fd);
	errno = saved;
	return d;
}

const char *
file_link(int fd, char out[FILE_LINK_MAX])
{
	snprintf(out, FILE_LINK_MAX, "/proc/self/fd/%d", fd);
	return out;
}
