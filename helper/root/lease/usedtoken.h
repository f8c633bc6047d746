/*
 * Used tokens: the first container that comes with a token is bound to it, until the token expires (by exp or by
 * max_age). The records of used tokens outlast a reboot: they are files in /var/lib/gpuhelper/tokens.
 *
 * With reuse_by in gpuhelper.conf, tokens that have one value of a claim (the id of a job) take turns instead: as long
 * as a container has a lease, no other container gets one by such a token. These tokens have no files: what counts is
 * the lease (its «reuse_hash»), which ends when root sees that the container is gone.
 */
#ifndef GPUHELPER_ROOT_LEASE_USEDTOKEN_H
#define GPUHELPER_ROOT_LEASE_USEDTOKEN_H

#include "../../ask/attribution.h"
#include "leaselist.h"

/*
 * Binds the token of *whose, which came from this uid, to the container of this lease key. Fills name[] with the new
 * record's name; name[0] is NUL if the token was bound to this container before. -1 with *why: it is bound to another
 * container, the user has used too many tokens that have not expired (WHY_AGAIN), or the record can't be written.
 */
int used_token_bind(const struct attribution *whose, uint32_t uid, const char *lease_key, char name[HASH_SIZE],
    struct why *why);

/* Fills a lease's «reuse_hash» for a token of this identity: "" for a token that is bound, and without a token. */
void used_token_reuse_hash(const struct attribution *whose, char reuse_hash[HASH_SIZE]);
/*
 * For a lease that is to be written: -1 with *why (WHY_AGAIN) if another lease has the same «reuse_hash». The caller
 * has read the leases with the flag LEASE_REUSE, under the lock, and ended those that are over.
 */
int used_token_may_add(const struct leases *ls, const struct lease *l, struct why *why);

/* Removes the record that used_token_bind() made; "" is none. */
void used_token_drop(const char *name);

#endif
