/* Reads files and directories of procfs and sysfs as text, beneath one directory and never through a link. */
#ifndef GPUHELPER_HOST_GPU_GPUTEXT_H
#define GPUHELPER_HOST_GPU_GPUTEXT_H

#include "../../base/text.h"
#include "../../base/why.h"

/* Reads the file with a printf-like path beneath root. The caller frees the text; NULL with errno. */
char *gpus_read(int root, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Gets the names in a directory, sorted. 0, 1 if it does not exist, or -1 with *why. */
int gpus_list(int root, const char *path, struct strlist *out, struct why *why);

#endif
