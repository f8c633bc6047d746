/* How deep a path is. */
#ifndef GPUHELPER_BASE_PATHDEPTH_H
#define GPUHELPER_BASE_PATHDEPTH_H

/* Number of components: "/" 0, "/srv" 1. */
unsigned path_depth(const char *path);

#endif
