/* What a lease wants of its wrapper. */
#ifndef GPUHELPER_LEASE_LEASEWANTS_H
#define GPUHELPER_LEASE_LEASEWANTS_H

#include "leasefile.h"

/* True if the lease, as it is now, still wants this operation done. */
bool lease_wants(const struct lease *l, const struct caller_op *c);

#endif
