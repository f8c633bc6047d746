/*
 * Where the loader of a container's image looks for libraries without a cache:
 * glibc's default directories in images like Debian's and like RHEL's.  Another
 * loader (musl's) can't load the drivers' libraries anyway.
 */
#ifndef GPUHELPER_PURE_LOADERDIRS_H
#define GPUHELPER_PURE_LOADERDIRS_H

#include <stdbool.h>

/* Of a machine (elf.h, EM_X86_64) and its bits; NULL: none that is known. */
const char *const *loader_dirs(unsigned machine, unsigned bits);

/* Of the machine that this program is for, with 64 bits; they end with NULL. */
const char *const *loader_dirs_here(void);

/* True if a loader, of whichever machine, looks into this directory of a container. */
bool loader_looks_in(const char *dir);

#endif
