/* What procfs and sysfs say of GPUs, as text: read beneath one directory, never through a link. */
#ifndef GPUHELPER_HOST_GPUTEXT_H
#define GPUHELPER_HOST_GPUTEXT_H

#include "../pure/text.h"
#include "../pure/why.h"

/* The text of a file beneath root, by a printf-like path, which the caller frees; NULL with errno. */
char *gpus_read(int root, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The names in a directory.  1: it is not there; -1 with *why. */
int gpus_list(int root, const char *path, struct strlist *out, struct why *why);

#endif
