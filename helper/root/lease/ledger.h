/*
 * The ledger: what was done to device nodes of the host, and for which leases (lease/ledgerfile.h). Changes are undone
 * by the ledger: no lease says what was before. Each node has a file in /run/gpuhelper/ledger. All these functions must
 * be called under the lock on the leases; what was read stays in memory as long as this process has that lock.
 */
#ifndef GPUHELPER_ROOT_LEASE_LEDGER_H
#define GPUHELPER_ROOT_LEASE_LEDGER_H

#include "../../lease/ledgerfile.h"

/*
 * Finds what the ledger has of a node, or makes a node without entries. Valid until ledger_forget(). NULL with *why:
 * the file can't be read.
 */
struct ledger_node *ledger_read(const char *path, uint32_t major, uint32_t minor, struct why *why);

/* Writes the node's file, as of this boot, whole or not at all; removes it if no entry is left. -1 with *why. */
int ledger_write(struct ledger_node *n, struct why *why);

/*
 * Calls use(ctx, node) for each node that has entries of the lease with this key; for each node, if key is NULL. The
 * function may write the node. Goes on after a failure: -1 with the *why of the last one, or, if none failed, of a file
 * that can't be read, which may have entries, too.
 */
typedef int ledger_use(void *ctx, struct ledger_node *n, struct why *why);
int ledger_each(const char *key, ledger_use *use, void *ctx, struct why *why);

/* True if the lease with this key has entries, or if that can't be seen. */
bool ledger_has(const char *key);

/* Frees what was read. Whoever takes the lock on the leases, or gives it up, calls that. */
void ledger_forget(void);

#endif
