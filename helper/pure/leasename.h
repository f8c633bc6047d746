/*
 * The name of a lease's file.  It says whom the lease may concern, so that nobody
 * has to read the leases of others to find his own:
 *
 *	KEY-UID-FLAGS-SIGNATURE
 *
 * KEY is the container's, FLAGS one hexadecimal digit, SIGNATURE 16 of them: each GPU
 * that the lease has, each node of these, and each node that it has an act on, sets
 * some bits there (a Bloom filter).  A name says at least what the lease does: it is
 * made when the lease is first written, and stays.
 *
 * Values in, values out.  Must never change what a GPU or a node sets without
 * another LEASE_VERSION: leases outlive an upgrade.
 */
#ifndef GPUHELPER_PURE_LEASENAME_H
#define GPUHELPER_PURE_LEASENAME_H

#include "leasefile.h"

#define LEASE_WRITES 1U		/* as the host's root, in a folder (way.h) */
#define LEASE_WAYS 2U		/* it has ways */
#define LEASE_LABEL 4U		/* it has an SELinux label, or holds folders */

struct lease_name {
	char key[65];
	uint32_t uid;
	unsigned flags;
	uint64_t signature;
};

/* GPUs and nodes that someone asks for.  Of more than there is room for: any. */
#define MARKS_MAX 256
struct marks {
	uint64_t v[MARKS_MAX];
	size_t n;
	bool any;
};

void marks_add_gpu(struct marks *m, enum gpu_vendor vendor, const char *pci);
void marks_add_node(struct marks *m, uint32_t major, uint32_t minor);

/* The key of (uid, root, id). */
void lease_key(uint32_t uid, const char *root, const char *id, char out[65]);

/* The name of a lease that has none yet. */
void lease_name_make(const struct lease *l, char out[LEASE_NAME_SIZE]);
/* Reads a file's name.  False: it is none that a lease may have. */
bool lease_name_parse(const char *text, struct lease_name *out);
/* True if the name says all that the lease now is, and is its user's and container's. */
bool lease_name_covers(const struct lease_name *n, const struct lease *l);
/* May the lease of this name have any of them? */
bool lease_name_meets(const struct lease_name *n, const struct marks *m);

#endif
