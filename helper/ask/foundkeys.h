/* The key files of token issuers (host/own/issuerkeys.h), on their way from the helper to gpuhelper-judge. */
#ifndef GPUHELPER_ASK_FOUNDKEYS_H
#define GPUHELPER_ASK_FOUNDKEYS_H

#include "../base/lines.h"
#include "../base/why.h"

/* The keys of one issuer. */
struct found_keys {
	char *text;		/* the JWKS, without a NUL; NULL: missing, and «why» says why */
	int64_t fetched;	/* when they came from the issuer, seconds since 1970 */
	struct why why;
};

/* The fields of a struct found_keys. */
void found_keys_fields(struct lines *t, void *keys);
/* Frees those of n issuers. */
void found_keys_free(struct found_keys *k, size_t n);

#endif
