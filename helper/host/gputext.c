/* See gputext.h. */
#include "gputext.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pure/cleanup.h"
#include "file.h"

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

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int
gpus_list(int root, const char *path, struct strlist *out, struct why *why)
{
	int fd = file_open_beneath(root, path, O_RDONLY | O_DIRECTORY), r = 0;
	struct dirent *e;
	DIR *d;

	if (fd == -1 && errno == ENOENT)
		return 1;
	if (fd == -1)
		return refuse(why, WHY_IO, "/%s: %s", path, strerror(errno));
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return refuse(why, WHY_IO, "/%s: %s", path, strerror(errno));
	}
	while (r == 0 && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		if (out->n == ENTRIES_MAX)
			r = refuse(why, WHY_IO, "/%s: more than %d entries", path, ENTRIES_MAX);
		else if (!strlist_add(out, e->d_name, SIZE_MAX))
			r = refuse_nomem(why);
	}
	if (r == 0 && errno != 0)
		r = refuse(why, WHY_IO, "/%s: %s", path, strerror(errno));
	closedir(d);
	/* file systems differ in their order, and the nodes of a GPU are told in it */
	if (out->n > 1)
		qsort(out->v, out->n, sizeof(*out->v), by_text);
	return r;
}
