/* See memfile.h. Must write to no disk. */
#include "memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "../../base/text.h"
#include "../../host/file.h"

char *
memfile_read(int fd, size_t max, size_t *len)
{
	autobuf struct buf b = { 0 };
	char part[16384];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 || b.len + (size_t)n > max) {
			errno = n == -1 ? errno : EFBIG;
			return NULL;
		}
		buf_add(&b, part, (size_t)n);
	}
	*len = b.len;
	return buf_take(&b);
}

int
memfile_make(const char *name, const char *text, size_t len, char path[FILE_LINK_MAX], struct why *why)
{
	const int low = memfd_create(name, 0), fd = low != -1 ? fcntl(low, F_DUPFD, MEMFILE_ABOVE) : -1;
	ssize_t n;

	if (low != -1)
		close(low);

	if (fd == -1)
		return refuse(why, WHY_AGAIN, "memfd_create: %s", strerror(errno));
	while (len > 0) {
		if ((n = write(fd, text, len)) == -1 && errno != EINTR) {
			close(fd);
			return refuse(why, WHY_AGAIN, "%s: %s", name, strerror(errno));
		}
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	(void)lseek(fd, 0, SEEK_SET);
	file_link(fd, path);
	return 0;
}
