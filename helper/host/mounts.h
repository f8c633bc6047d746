/* The mounts that this process sees. */
#ifndef GPUHELPER_HOST_MOUNTS_H
#define GPUHELPER_HOST_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if something is mounted beneath the directory (strictly; proc(5),
 * mountinfo); «first» gets one such place.  True as well, with "?", where that
 * can't be seen.
 */
bool mounts_beneath(const char *dir, char *first, size_t size);

#endif
