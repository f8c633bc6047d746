/* See listing.h. Reads the directory itself, and opens nothing in it. */
#include "listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int
listing_names(int fd, size_t max, struct strlist *out)
{
	DIR *d = file_list(fd);
	struct dirent *e;
	int error = 0;

	if (d == NULL)
		return -1;
	while (error == 0 && (errno = 0, e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		error = out->n >= max ? E2BIG : strlist_add(out, e->d_name, SIZE_MAX) ? 0 : ENOMEM;
	}
	error = error != 0 ? error : errno;
	closedir(d);
	if (out->n > 1)
		qsort(out->v, out->n, sizeof(*out->v), by_name);
	errno = error;
	return error == 0 ? 0 : -1;
}
