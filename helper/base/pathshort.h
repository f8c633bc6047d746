/* Paths in messages. */
#ifndef GPUHELPER_BASE_PATHSHORT_H
#define GPUHELPER_BASE_PATHSHORT_H

#include <stddef.h>

/*
 * Copies a path for a message, and returns «out», which has «size» bytes (at least 16). A path that does not fit is cut
 * in its middle, because its end tells most: «/nix/store/0123...-driver/lib/libcuda.so.1».
 */
const char *path_short(const char *path, char *out, size_t size);
#define PATH_SHOWN 160		/* a good size */

#endif
