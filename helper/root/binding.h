/*
 * Used tokens: the first container that comes with a token is bound to it, until the token expires (by exp or by
 * max_age). Bindings outlast a reboot: they are files in /var/lib/gpuhelper/tokens.
 */
#ifndef GPUHELPER_ROOT_BINDING_H
#define GPUHELPER_ROOT_BINDING_H

#include "../pure/identity.h"

/*
 * Binds the token of *k, which came from this uid, to the container of this lease key. Fills name[] with the new
 * binding's name; name[0] is NUL if the token was bound to this container before. -1 with *why: it is bound to another
 * container, the user has used too many tokens that have not expired (WHY_AGAIN), or the binding can't be written.
 */
int binding_take(const struct known *k, uint32_t uid, const char *lease_key, char name[HASH_SIZE], struct why *why);

/* Removes a binding that binding_take() made; "" is none. */
void binding_drop(const char *name);

#endif
