/* Which GPUs of this host the names in CDI specs refer to. */
#ifndef GPUHELPER_HOST_CDIGPUS_H
#define GPUHELPER_HOST_CDIGPUS_H

#include "../pure/gpu.h"
#include "cdidirs.h"

/*
 * Sets «cdi» of the inventory's GPUs to their names in the specs, and «cdi_problem» to the first problem of a
 * spec. Returns 0, or -1 with *why if memory is short.
 */
int cdigpus_name(const struct cdi_registry *r, struct inventory *inv, struct why *why);

/*
 * Loads the specs of CDI_DIRS, for root, into *r, and does the same by them. Returns 0, or -1 with *why. The
 * caller calls cdi_registry_free() in any case.
 */
int cdigpus_load(cdi_parser *parse, struct cdi_registry *r, struct inventory *inv, struct why *why);

#endif
