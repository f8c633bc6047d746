/* The files of token issuers' keys, as bytes that only root can have written. */
#ifndef GPUHELPER_HOST_ISSUERKEYS_H
#define GPUHELPER_HOST_ISSUERKEYS_H

#include "../pure/judgeask.h"

/*
 * The keys of an issuer; they are as old as their file.  «strict» as in trust.h.  -1: there are none, or they can't be
 * had, and out->why says it.
 */
int issuer_keys_find(const struct issuer_setting *s, bool strict, struct found_keys *out);

/* Those of all issuers, found or not; found_keys_free() by the caller.  NULL: no memory. */
struct found_keys *issuers_keys_find(const struct settings *s, bool strict);

#endif
