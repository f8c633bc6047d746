/*
 * See file.h.  Reads only.  «dirfd» is a directory that the caller of these
 * functions trusts; what lies beneath may be anything.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../pure/cleanup.h"

int
file_open_beneath(int dirfd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY | O_NONBLOCK;
	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
}

char *
file_read_fd(int fd, size_t max, size_t *len)
{
	autofree char *buf = NULL;
	size_t have = 0, cap = 0;
	struct stat st;
	ssize_t n;
	char *p;

	if (fstat(fd, &st) == -1)
		return NULL;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return NULL;
	}
	/* procfs and sysfs say size 0 or a page: read until the end, whatever stat says */
	for (;;) {
		if (cap - have < 2) {
			cap = cap ? cap * 2 : (st.st_size > 0 && (size_t)st.st_size < max ? (size_t)st.st_size + 2 : 4096);
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
	}
	buf[have] = '\0';
	if (len != NULL)
		*len = have;
	p = buf;
	buf = NULL;
	return p;
}

char *
file_read_at(int dirfd, const char *path, size_t max, size_t *len)
{
	autoclose int fd = file_open_beneath(dirfd, path, O_RDONLY);

	return fd == -1 ? NULL : file_read_fd(fd, max, len);
}
