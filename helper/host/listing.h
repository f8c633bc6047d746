/* The names in a directory. */
#ifndef GPUHELPER_HOST_LISTING_H
#define GPUHELPER_HOST_LISTING_H

#include <stddef.h>

#include "../base/text.h"

/*
 * Gets the names in a directory except "." and "..", sorted bytewise: file systems differ in their order. Takes over
 * the descriptor «fd» (O_RDONLY), and closes it. Returns 0, or -1 with errno: E2BIG for more than «max» names, ENOMEM,
 * what readdir(3) says, or, where fd is -1, what errno was. The caller frees *out in any case.
 */
int listing_names(int fd, size_t max, struct strlist *out);

#endif
