/* The key files of token issuers, as unparsed text that only root can have written. */
#ifndef GPUHELPER_HOST_OWN_ISSUERKEYS_H
#define GPUHELPER_HOST_OWN_ISSUERKEYS_H

#include "../../ask/foundkeys.h"
#include "../../policy/settings.h"

/*
 * Reads the key file of an issuer, and its age. «strict» as in trust.h. Returns 0, or -1 if there is none or
 * it can't be read; out->why says why.
 */
int issuer_keys_find(const struct issuer_setting *s, bool strict, struct found_keys *out);

/*
 * The same for all issuers, with or without keys. The caller calls found_keys_free(). NULL if memory is
 * short.
 */
struct found_keys *issuers_keys_find(const struct settings *s, bool strict);

#endif
