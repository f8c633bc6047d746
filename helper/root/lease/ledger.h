/*
 * The ledger: what was done to device nodes of the host, and for which leases (lease/ledgerfile.h). It is what acts are
 * undone by: no lease says what was before. Each node has a file in /run/gpuhelper/ledger. All these functions must
 * be called under the lock on the leases.
 */
#ifndef GPUHELPER_ROOT_LEASE_LEDGER_H
#define GPUHELPER_ROOT_LEASE_LEDGER_H

#include "../../lease/ledgerfile.h"

/*
 * Reads what the ledger has of a node, or makes *out a node without entries. -1 with *why: the file can't
 * be read. ledger_node_free() in either case.
 */
int ledger_read(const char *path, uint32_t major, uint32_t minor, struct ledger_node *out, struct why *why);

/* Writes the node's file, as of this boot, whole or not at all; removes it if no entry is left. -1 with *why. */
int ledger_write(struct ledger_node *n, struct why *why);

/*
 * Calls use(ctx, node) for each node that has entries of the lease with this key; for each node, if key is NULL. The
 * function may write the node. Goes on after a failure: -1 with the *why of the last one, or if a file can't be read.
 */
typedef int ledger_use(void *ctx, struct ledger_node *n, struct why *why);
int ledger_each(const char *key, ledger_use *use, void *ctx, struct why *why);

/* True if the lease with this key has entries, or if that can't be seen. */
bool ledger_has(const char *key);

#endif
