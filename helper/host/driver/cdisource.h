/* Where a path in a CDI spec leads on this host, and whether others than root can change that. */
#ifndef GPUHELPER_HOST_DRIVER_CDISOURCE_H
#define GPUHELPER_HOST_DRIVER_CDISOURCE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "../../base/why.h"

/*
 * Finds the source of a mount or hook, which someone will mount or run by its path. *real (PATH_MAX bytes)
 * gets the path with links to directories resolved, *st the file there, which is no link. *roots is true if
 * only root can change the file and every directory on the way: it then stays what it is now. Returns 0, or
 * -1 with *why if the file does not exist or is a link to anything but a directory.
 */
int cdi_find_source(const char *path, char *real, struct stat *st, bool *roots, struct why *why);

/* A walk along a path: «done» was seen and contains no link, «rest» is still to be seen. */
struct cdi_walk {
	char done[PATH_MAX], rest[PATH_MAX];
	bool loose;		/* others than root can change «done», or what a directory of it leads to */
	char who[PATH_MAX];	/* the first directory that they can change */
};

/*
 * Walks along an absolute path, through links to directories. *st gets the last component, which may itself
 * be a link. The caller sets w->loose to false first. Returns 0, or -1 with *why.
 */
int cdi_walk(struct cdi_walk *w, const char *path, struct stat *st, struct why *why);

/*
 * Walks on where cdi_walk() found a link at the path's end. Returns true if the link leads to a directory: *w and *st
 * are then of that directory. Links to files are not for this: they hide which file, and which version, is meant.
 */
bool cdi_walk_into(struct cdi_walk *w, const char *path, struct stat *st);

/* Records in *w whether others than root can change the file that *st describes. */
void cdi_walk_visit(struct cdi_walk *w, const char *path, const struct stat *st);

#endif
