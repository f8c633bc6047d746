/* Paths as the runtimes of vendors compare them. */
#ifndef GPUHELPER_BASE_PATHCLEAN_H
#define GPUHELPER_BASE_PATHCLEAN_H

/*
 * The path without empty, "." and ".." components, as NVIDIA's runtime compares destinations (Go's
 * filepath.Clean()). "/" becomes "". The caller frees it; NULL if memory is short.
 */
char *path_cleaned(const char *path);

#endif
