/*
 * Remembers for a minute, for all helpers, that some user's leases took long to look at: others wait for the lock
 * while a helper scans them.
 */
#ifndef GPUHELPER_ROOT_CHILD_SLOWNESS_H
#define GPUHELPER_ROOT_CHILD_SLOWNESS_H

#include <stdbool.h>
#include <stdint.h>

/* Notes that a scan of this user's leases took long. If it can't be written down, does nothing. */
void slowness_note(uint32_t uid);

/* True for a minute after slowness_note(). */
bool slowness_is_noted(uint32_t uid);

#endif
