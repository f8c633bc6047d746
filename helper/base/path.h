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

/*
 * The path without empty, "." and ".." components, as NVIDIA's runtime compares destinations (Go's
 * filepath.Clean()). "/" becomes "". The caller frees it; NULL if memory is short.
 */
char *path_cleaned(const char *path);

/* Number of components: "/" 0, "/srv" 1. */
unsigned path_depth(const char *path);

/* The last component of any path (points into it). CDI specs also have «tmpfs» and relative paths of hooks. */
const char *path_last(const char *path);
/* The path without its last component: "/srv" of "/srv/a", "/" of "/srv". The caller frees; NULL: memory is short. */
char *path_parent(const char *path);

/*
 * Copies a path for a message, and returns «out», which has «size» bytes (at least 16). A path that does not fit is cut
 * in its middle, because its end tells most: «/nix/store/0123...-driver/lib/libcuda.so.1».
 */
const char *path_short(const char *path, char *out, size_t size);
#define PATH_SHOWN 160		/* a good size */

/*
 * True if «name» matches «pattern»: '*' matches any bytes but '/', '?' one byte but '/', everything else
 * itself. No brackets, no escapes, case matters. Needs no memory, and at most |name| times |pattern| steps.
 */
bool glob_match(const char *pattern, const char *name);
bool glob_is(const char *pattern);	/* has a '*' or '?' */

#endif
