/*
 * The directories that the loader of a container's image searches without a cache: glibc's defaults in images
 * like Debian's and like RHEL's. Other loaders (musl's) can't load the drivers' libraries at all.
 */
#ifndef GPUHELPER_CDI_LOADERDIRS_H
#define GPUHELPER_CDI_LOADERDIRS_H

#include <stdbool.h>

/*
 * The directories for a machine (elf.h, EM_X86_64) of so many bits, ending with NULL. NULL if it is unknown.
 */
const char *const *loader_dirs(unsigned machine, unsigned bits);

/* The same for the machine of this program, with 64 bits. */
const char *const *loader_dirs_here(void);

/* True if a loader of any machine searches this directory of a container. */
bool loader_looks_in(const char *dir);

#endif
