/* Drops capabilities that a process does not need. */
#ifndef GPUHELPER_ROOT_SELF_CAPABILITY_H
#define GPUHELPER_ROOT_SELF_CAPABILITY_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>

#include "../../base/why.h"

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40	/* capabilities(7); Linux 5.9 */
#endif

/*
 * Keeps, of the process's capabilities (capabilities(7)), only those in kept[n]. Empties the bounding set, and sets the
 * securebits so that neither uid 0 nor an exec regains any. -1 with *why.
 */
int capabilities_keep(const int *kept, size_t n, struct why *why);

/*
 * For a process that becomes another user and executes a program, which is to keep those in kept[n] that this process
 * has, and no others: to be called before and after the ids are changed. The first one locks up the rest as
 * capabilities_keep() does. After the second one this process has none in effect itself. The program gets them as
 * ambient ones, and must call capabilities_keep(). False on failure.
 */
bool capabilities_begin_pass(const int *kept, size_t n);
bool capabilities_pass(const int *kept, size_t n);

#endif
