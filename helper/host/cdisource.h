/* Where the path of a CDI spec leads on this host, and who can change that. */
#ifndef GPUHELPER_HOST_CDISOURCE_H
#define GPUHELPER_HOST_CDISOURCE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "../pure/why.h"

/*
 * What a spec names on this host, for someone who will have it mounted or run by
 * its path: *real (PATH_MAX bytes) is the path without the links of directories
 * on the way, *st what is there, itself no link.  *roots is true if nobody but
 * root can change it or any directory on the way: then it stays what it is now.
 * -1 with *why: it is not there, or a link.
 */
int cdi_find_source(const char *path, char *real, struct stat *st, bool *roots, struct why *why);

/* A walk along a path, of which «done» has been seen and holds no link, and «rest» is to come. */
struct cdi_walk {
	char done[PATH_MAX], rest[PATH_MAX];
	bool loose;		/* others than root can change a directory of «done» */
	char who[PATH_MAX];	/* the first such */
};

/*
 * Goes along an absolute path, through links of directories; *st is what stands
 * at the end, itself a link or not.  -1 with *why.
 */
int cdi_walk(struct cdi_walk *w, const char *path, struct stat *st, struct why *why);

/* Notes in w whether others than root can change what *st is of. */
void cdi_walk_look(struct cdi_walk *w, const char *path, const struct stat *st);

#endif
