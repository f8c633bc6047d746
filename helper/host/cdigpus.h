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

/* The same from the specs of CDI_DIRS, read as the helper reads them, for who needs nothing else of them. */
int cdigpus_name_all(cdi_parser *parse, struct inventory *inv, struct why *why);

#endif
