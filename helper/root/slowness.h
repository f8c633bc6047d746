/*
 * Whose leases it took long to look at, a minute ago or less: remembered for all helpers, for each of them that looks
 * has others wait for the lock meanwhile.
 */
#ifndef GPUHELPER_ROOT_SLOWNESS_H
#define GPUHELPER_ROOT_SLOWNESS_H

#include <stdbool.h>
#include <stdint.h>

/* Remembers it of a user's leases. What can't be written down is forgotten. */
void slowness_note(uint32_t uid);

/* True for a minute after that. */
bool slowness_is_noted(uint32_t uid);

#endif
