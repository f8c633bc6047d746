/*
 * Used tokens: each is bound to the one container that came with it first, until
 * it expires (by exp or by max_age), beyond a reboot: /var/lib/gpuhelper/tokens, a file each.
 */
#ifndef GPUHELPER_ROOT_BINDING_H
#define GPUHELPER_ROOT_BINDING_H

#include "../pure/identity.h"

/*
 * Binds the token to the container of this lease key; fills name[] if it was not
 * bound before (else name[0] is NUL).  The same container may come again,
 * another one is refused, and so is (WHY_AGAIN) who has used too many that have
 * not expired.  Takes what is needed for naming from *k.
 */
int binding_take(const struct known *k, uint32_t uid, const char *lease_key, char name[65], struct why *why);

/* Takes back a binding that binding_take() made; "" is none. */
void binding_drop(const char *name);

#endif
