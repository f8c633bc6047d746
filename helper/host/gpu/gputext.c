/* See gputext.h. Assumes nothing about the files, and must never write. */
#include "gputext.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../file.h"
#include "../listing.h"

#define TEXT_MAX (64 * 1024)	/* /proc/devices has 512 majors, a sysfs file one page */
#define ENTRIES_MAX 1024

char *
gpus_read(int root, const char *fmt, ...)
{
	autofree char *text = NULL;
	char path[512], *p;
	va_list ap;
	size_t len;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	if ((text = file_read_at(root, path, TEXT_MAX, &len)) == NULL)
		return NULL;
	if (strlen(text) != len) {
		errno = EBADMSG;
		return NULL;
	}
	p = text;
	text = NULL;
	return p;
}

int
gpus_list(int root, const char *path, struct strlist *out, struct why *why)
{
	const int fd = file_open_beneath(root, path, O_RDONLY | O_DIRECTORY);

	if (fd == -1 && errno == ENOENT)
		return 1;
	if (listing_names(fd, ENTRIES_MAX, out) == 0)
		return 0;
	if (errno == E2BIG)
		return refuse(why, WHY_IO, "/%s: more than %d entries", path, ENTRIES_MAX);
	return errno == ENOMEM ? refuse_nomem(why) : refuse(why, WHY_IO, "/%s: %s", path, strerror(errno));
}
