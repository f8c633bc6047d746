/*
 * Paths as text.  Compared component by component, never by prefix: "/srvx" is
 * not beneath "/srv" (the mistake of CVE-2026-48785).
 */
#ifndef GPUHELPER_BASE_PATH_H
#define GPUHELPER_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"
#include "why.h"

/*
 * Accepts only the canonical spelling: absolute, no empty, "." or ".." component, no slash at the end (except
 * "/"), no control byte, well-formed UTF-8, components up to 255 and the path up to 1023 bytes. 0, or -1 with
 * *why.
 */
int path_check(const char *path, struct why *why);
/* True for one (NULL is none), and for each of a list, that path_check() accepts. */
bool path_is_clean(const char *path);
bool paths_are_clean(const struct strlist *paths);

/* For two paths that path_check() accepted: */
bool path_is_beneath(const char *path, const char *dir);	/* strictly beneath */
bool path_at_or_beneath(const char *path, const char *dir);
bool path_related(const char *a, const char *b);		/* equal, or one beneath the other */

/* The last component of any path (points into it). CDI specs also have «tmpfs» and relative paths of hooks. */
const char *path_last(const char *path);
/* The path without its last component: "/srv" of "/srv/a", "/" of "/srv". The caller frees; NULL: memory is short. */
char *path_parent(const char *path);

/*
 * True if «name» matches «pattern»: '*' matches any bytes but '/', '?' one byte but '/', everything else
 * itself. No brackets, no escapes, case matters. Needs no memory, and at most |name| times |pattern| steps.
 */
bool glob_match(const char *pattern, const char *name);
bool glob_is(const char *pattern);	/* has a '*' or '?' */

#endif
