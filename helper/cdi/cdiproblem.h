/* CDI specs that can't be used, as an inventory notes them, and to which GPUs each may matter. */
#ifndef GPUHELPER_CDI_CDIPROBLEM_H
#define GPUHELPER_CDI_CDIPROBLEM_H

#include "../gpu/gpu.h"

/*
 * Notes a spec of this kind ("": the kind could not be read) with «FILE: reason», unless one of the same kind is noted.
 * False if memory is short.
 */
bool cdi_problem_add(struct inventory *inv, const char *kind, const char *text);

/*
 * True if a spec of this kind ("": unknown) may be the one with the vendor's GPUs: it is of the vendor's domain or of
 * one beneath it ("management.nvidia.com/gpu"), and not one that NVIDIA's tool has for other devices ("nvidia.com/gds",
 * extranode.h).
 */
bool cdi_kind_may_have(const char *kind, enum gpu_vendor v);

/* The first noted spec that may have the vendor's GPUs, or devices of this kind, as «FILE: reason»; NULL: none. */
const char *cdi_problem_of_gpus(const struct inventory *inv, enum gpu_vendor v);
const char *cdi_problem_of_kind(const struct inventory *inv, const char *kind);

#endif
