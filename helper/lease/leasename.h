/*
 * The name of a lease's file. It says whom the lease may concern, so that a helper finds a lease without reading
 * others:
 *
 * KEY-UID-FLAGS-SIGNATURE
 *
 * KEY is the container's, FLAGS one hex digit, SIGNATURE 16. Each GPU of the lease and each node of these sets
 * some bits of SIGNATURE (a Bloom filter). The name is made when the lease is first written, and stays; it may say more
 * than the lease does, never less.
 *
 * Computes only. Never change the bits of a GPU or node without a new LEASE_VERSION: leases outlive an
 * upgrade.
 */
#ifndef GPUHELPER_LEASE_LEASENAME_H
#define GPUHELPER_LEASE_LEASENAME_H

#include "leasefile.h"

#define LEASE_WRITES 1U		/* it writes to a folder as the host's root (lookup.h) */
#define LEASE_LOOKUPS 2U		/* it has lookup paths */
#define LEASE_LABEL 4U		/* it has an SELinux label, or holds folders */
#define LEASE_REUSE 8U		/* its token is one of those that take turns */

struct lease_name {
	char key[LEASE_KEY_SIZE];
	uint32_t uid;
	unsigned flags;
	uint64_t signature;
};

/* The GPUs and nodes that someone asks for. More than BLOOM_MAX count as all. */
#define BLOOM_MAX 256
struct bloom_query {
	uint64_t v[BLOOM_MAX];
	size_t n;
	bool any;
};

void bloom_add_gpu(struct bloom_query *m, enum gpu_vendor vendor, const char *pci);
void bloom_add_node(struct bloom_query *m, uint32_t major, uint32_t minor);

/* The key of (uid, root, id). */
void lease_key(uint32_t uid, const char *root, const char *id, char out[LEASE_KEY_SIZE]);
/* The name of the exec record that (root, id) has in its user's directory. NULL counts as "". */
void exec_record_name(const char *root, const char *id, char out[HASH_SIZE]);

/* The name of a lease that has none yet. */
void lease_name_make(const struct lease *l, char out[LEASE_NAME_SIZE]);
/* Parses a file's name. False if no lease may have it. */
bool lease_name_parse(const char *text, struct lease_name *out);
/* True if the name covers all that the lease now has, and is of its user and container. */
bool lease_name_covers(const struct lease_name *n, const struct lease *l);
/* True if the lease of this name may have any of these. */
bool lease_name_may_have(const struct lease_name *n, const struct bloom_query *m);

#endif
