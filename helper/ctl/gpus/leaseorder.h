/* The order in which «status» lists leases. */
#ifndef GPUHELPER_CTL_GPUS_LEASEORDER_H
#define GPUHELPER_CTL_GPUS_LEASEORDER_H

#include <jansson.h>

/*
 * Puts the leases of living containers first, then those that still keep a GPU, then those that keep none; of each kind
 * the oldest first.  «leases» is the array of «status --json».  Without memory, the order stays.
 */
void leases_sort(json_t *leases);

#endif
