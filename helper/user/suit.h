/* What was granted, put so that the runtime below does it. */
#ifndef GPUHELPER_USER_SUIT_H
#define GPUHELPER_USER_SUIT_H

#include "../pure/edits.h"
#include "spec.h"

/*
 * Changes *e to what this runtime (its path) makes of it as it was meant.  -1 with *why: it,
 * or the kernel, can't.
 */
int suit_runtime(const char *runtime, const struct spec *s, struct edits *e, struct why *why);

#endif
