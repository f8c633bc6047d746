/* The names that this host's CDI specs give to its GPUs. */
#ifndef GPUHELPER_HOST_CDIGPUS_H
#define GPUHELPER_HOST_CDIGPUS_H

#include "../pure/gpu.h"
#include "cdidirs.h"

/*
 * Fills the GPUs' «cdi» and the inventory's «cdi_problem» by what the specs say.
 * -1 with *why: memory ran short.
 */
int cdigpus_name(const struct cdi_registry *r, struct inventory *inv, struct why *why);

/* The same by the specs of CDI_DIRS, as the helper reads them: *r gets those.  cdi_registry_free() in either case. */
int cdigpus_load(cdi_parser *parse, struct cdi_registry *r, struct inventory *inv, struct why *why);

#endif
