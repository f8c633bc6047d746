/* GPUs that no CDI spec names, although a spec seems to have them: their containers would lack the driver's files. */
#ifndef GPUHELPER_HOST_DRIVER_DRIVERUNMATCHED_H
#define GPUHELPER_HOST_DRIVER_DRIVERUNMATCHED_H

#include "../../gpu/gpu.h"
#include "cdidirs.h"

/*
 * For a GPU that cdigpus_name() found in no spec: refuses it if a spec has a node by the name of a node of the GPU that
 * is none of this host's, or if a spec of the vendor's own kind has a device without any node of this host's GPUs.
 * Returns 0, or -1 with *why, which says how to fix the spec. Opens nothing.
 */
int driver_check_unmatched(const struct cdi_registry *specs, const struct inventory *inv, const struct gpu *g,
    struct why *why);

#endif
