/* What the helper is told of a principal (ask/attribution.h). */
#ifndef GPUHELPER_ENGINE_ATTRIBUTE_H
#define GPUHELPER_ENGINE_ATTRIBUTE_H

#include "../ask/attribution.h"
#include "../ask/identity.h"

/* The caller frees *out by attribution_free() in any case. False: memory is short. */
bool attribute(const struct principal *k, struct attribution *out);

/*
 * The principal of a lease, by attribution_pack(). False, with *out empty: it is not the one that the helper was told
 * of when it wrote the lease, or memory is short. principal_free() in any case.
 */
bool principal_of_lease(const char *packed, struct principal *out);

#endif
