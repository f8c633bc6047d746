/*
 * Leases: which container holds which GPU. Each is a file in /run/gpuhelper/leases. A request reads only the leases
 * that concern it, because other users can have thousands. leasewrite.h writes leases, leaseend.h ends them.
 */
#ifndef GPUHELPER_ROOT_LEASE_LEASELIST_H
#define GPUHELPER_ROOT_LEASE_LEASELIST_H

#include "../../base/why.h"
#include "../../lease/leasename.h"

#define LEASES_PER_USER 512	/* or one user could leave nothing to the others */

#define LEASE_TEXT_MAX (LEASE_FILE_MAX - (128 << 10))	/* bytes when it is new: its cgroups come later */
#define LEASES_MIB_PER_USER 2	/* or one user's leases could slow others down; most have less than 4 KiB */

/* A lease's file. */
struct lease_file {
	const char *text;	/* its name */
	struct lease_name name;	/* the same, parsed */
	bool read, gone;
};

struct leases {
	int dir, lock, user_lock;	/* the directory; the lock, and the lock of its user before it; -1 while not held */
	struct strlist names;
	struct lease_file *file;	/* sorted by name */
	size_t files;
	struct lease **v;	/* the leases that were read and exist; each stays at its address while more are read */
	size_t n;
};
#define LEASES_CLOSED { .dir = -1, .lock = -1, .user_lock = -1 }

/* The leases that a request must know. leases_read() may read others, too. */
struct lease_query {
	bool all;
	bool of_user;		/* all leases of uid */
	bool new_lease;		/* uid is to get another lease: if uid is near its limit, all leases of uid */
	uint32_t uid;
	const char *key;	/* that of one container; NULL: none */
	const struct strlist *keys;	/* those of further containers; NULL: none */
	unsigned flags;		/* those with one of these flags (leasename.h) */
	struct bloom_query bloom;	/* those with one of these GPUs or nodes */
};

/*
 * Takes the lock on the leases, and lists their files; reads none of them. Waits at most 1.5 s. The helpers of one user
 * first wait for a lock of that user's, so that at most one helper of each user waits for the lock itself. -1 with
 * *why. leases_close() in either case.
 */
int leases_lock(struct leases *ls, uint32_t uid, struct why *why);
/*
 * The same for a request that has a lease already, which would go on holding its GPU if this failed. Waits at most
 * 4 s, for another lock of the user's than requests without a lease.
 */
int leases_lock_as_holder(struct leases *ls, uint32_t uid, struct why *why);
/*
 * Reads the leases that *c describes and that were not read before. -1 with *why: also if one of their files can't be
 * read, or its name does not cover the lease. Such a file may hold a GPU, so nothing is granted.
 */
int leases_read(struct leases *ls, const struct lease_query *which, struct why *why);
/* Frees the leases, and releases the lock. */
void leases_close(struct leases *ls);
#define autoleases __attribute__((cleanup(leases_close)))	/* begins as LEASES_CLOSED */

/* Finds the container's lease among those that were read. NULL: there is none. */
struct lease *leases_find(const struct leases *ls, uint32_t uid, const char *root, const char *id);

/* True if there is a lease with this key, whether it was read or not. */
bool leases_have(const struct leases *ls, const char *key);

/*
 * Finds the lease with this key, reads it if necessary, and checks that this process asked for it: another process
 * may have ended that lease since, and have made one of the same name. NULL with *why: there is none.
 */
struct lease *leases_find_of(struct leases *ls, const char *key, struct process_id asker, const char *boot,
    struct why *why);

/* The number of all leases, and the number and bytes of one user's. */
struct tally {
	size_t all, own;
	uint64_t bytes;
};
void leases_tally(const struct leases *ls, uint32_t uid, struct tally *out);
/* True if the user's leases may take so many bytes more. */
bool tally_has_room(const struct tally *t, size_t bytes);
/* True if the user may not have another lease, one of so many bytes. Root's bytes are not limited. */
bool tally_is_full(const struct tally *t, uint32_t uid, size_t bytes);

/* Drops ls->v[at], whose file was removed. Another lease takes its place. */
void leases_forget(struct leases *ls, size_t at);

#endif
