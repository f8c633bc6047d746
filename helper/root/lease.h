/*
 * Leases: which container holds which GPU, kept in /run/gpuhelper/leases, a
 * file each.  A lease ends when root itself sees it over, never on anyone's word.
 */
#ifndef GPUHELPER_ROOT_LEASE_H
#define GPUHELPER_ROOT_LEASE_H

#include "../pure/edits.h"
#include "../pure/pick.h"
#include "peer.h"
#include "state.h"

struct lease {
	char key[65];		/* SHA-256 of uid, runtime root and id: the file's name */
	char *id, *root;	/* container id, runtime root */
	uint32_t uid;
	pid_t pid;		/* the process that asked */
	uint64_t start;
	char boot[40];
	int64_t since;		/* seconds since 1970 */
	char *policy, *pipeline;
	struct strlist cgroups;	/* where its cgroup may be (host/cgroup.h) */
	struct held_gpu *gpu;
	size_t gpus;
	struct edit_node *node;	/* path, major and minor of its GPUs' own nodes */
	size_t nodes;
	struct idspan *user;	/* where no cgroup is the container's own (rootless): users whose open nodes keep it */
	size_t users;
	bool over;		/* seen over, and left alone (see leases_open()) */
};

struct leases {
	int dir, lock;		/* the directory; the lock's descriptor, -1 while not held */
	struct lease *v;	/* the live ones */
	size_t n;
};

/* Told of each lease that was found over, before it is removed. */
typedef void lease_ended(void *ctx, const struct lease *l);

/*
 * Takes the lock (waits 2 s at most), reads all leases and removes those that
 * are over.  A lease file that can't be read refuses everything, for it may
 * hold a GPU.  With «ended» NULL nothing is removed, those that are over are
 * marked so.  leases_close() in either case.
 */
int leases_open(struct leases *ls, lease_ended *ended, void *ctx, struct why *why);
void leases_close(struct leases *ls);

/* Writes the lease down.  Refuses a second one for the same container, and more than one user may have. */
int leases_add(struct leases *ls, const struct lease *l, struct why *why);

/*
 * Takes back the lease that this peer was given for (root, id), and its exec
 * record.  One of that name that another process came to have stays.
 */
int leases_drop(const struct peer *p, const char *root, const char *id, struct why *why);

/* The key of (uid, root, id). */
void lease_key(uint32_t uid, const char *root, const char *id, char out[65]);
void lease_free(struct lease *l);

/*
 * What exec has to repeat, readable by the caller's group only:
 * /run/gpuhelper/exec/UID/SHA-256 of root NUL id.
 */
int exec_record_write(const struct peer *p, const struct lease *l, const struct edits *e, struct why *why);
void exec_record_remove(uint32_t uid, const char *root, const char *id);

#endif
