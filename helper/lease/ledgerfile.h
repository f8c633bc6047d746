/*
 * A device node's file in /run/gpuhelper/ledger, of lines (lines.h): what was done to the node, for which leases, and
 * what was there before. Its name is the node's number and path, «195:0!dev!nvidia0», because two nodes of one number
 * have an ACL each. Computes only; helper/root/lease/ledger.c opens.
 *
 * An entry is written before its change is done, and removed after the change is undone. So a change in the file may
 * not have been done yet, or may be undone already.
 */
#ifndef GPUHELPER_LEASE_LEDGERFILE_H
#define GPUHELPER_LEASE_LEDGERFILE_H

#include "../base/hash.h"
#include "../base/why.h"
#include "change.h"

#define LEDGER_VERSION 1
#define LEDGER_NAME_SIZE 96
#define LEDGER_FILE_MAX (8 << 20)	/* bytes; each of 4096 leases has at most a few entries on a node */
#define CHANGE_NO_MASK (-1)

struct ledger_entry {
	char key[HASH_SIZE];		/* of the lease (leasename.h) */
	uint32_t uid;			/* whose lease it is */
	enum change_kind kind;
	uint32_t id;
	char *label, *was;		/* CHANGE_LABEL: the new label, and the old one; else NULL */
	bool undone;			/* not in the file: ledger_drop_undone() is to remove it */
};

struct ledger_node {
	char path[64];
	uint32_t major, minor;
	char boot[40];			/* a node of another boot is gone: /dev is new */
	uint64_t inode;			/* of the node, if it was made for a lease; else 0 */
	int mask;			/* the ACL's mask (0 to 7) before our first entry, or CHANGE_NO_MASK */
	struct ledger_entry *entry;
	size_t entries;
};
#define LEDGER_NODE_EMPTY (struct ledger_node){ .mask = CHANGE_NO_MASK }

/* The file's name. Names of different paths can be the same, if they have other characters than letters and digits. */
void ledger_name(const char *path, uint32_t major, uint32_t minor, char out[LEDGER_NAME_SIZE]);

/* The file's text, which the caller frees; NULL: no memory. */
char *ledger_encode(const struct ledger_node *n);

/* Reads the text back. 0, or -1 with *why for anything but a node of this version; *n is then empty. */
int ledger_decode(const char *text, size_t len, struct ledger_node *n, struct why *why);

void ledger_node_free(struct ledger_node *n);

/* Finds the entry of a change (change.h), of the lease with this key. NULL: there is none. */
struct ledger_entry *ledger_find(const struct ledger_node *n, const char *key, const struct change *a);

/* True if both entries are of one change. */
bool ledger_same_change(const struct ledger_entry *a, const struct ledger_entry *b);

/* Adds an entry for the change; «was» is the label before, or NULL. NULL: memory is short. Valid until the next one. */
struct ledger_entry *ledger_add(struct ledger_node *n, const char *key, uint32_t uid, const struct change *a,
    const char *was);

/*
 * Removes the entries that are undone. The others keep their order. With the last entry of a kind, what was before
 * goes, too.
 */
void ledger_drop_undone(struct ledger_node *n);

#endif
