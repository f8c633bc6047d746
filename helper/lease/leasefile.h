/*
 * A lease's file in /run/gpuhelper/leases, of lines (lines.h). Computes only; helper/root/lease/leaselist.c opens and
 * locks. A malformed file is an error, because its lease may hold a GPU.
 */
#ifndef GPUHELPER_LEASE_LEASEFILE_H
#define GPUHELPER_LEASE_LEASEFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/hash.h"
#include "../gpu/pick.h"
#include "../kernel/secontext.h"
#include "callerop.h"
#include "edits.h"
#include "leasedfolder.h"
#include "leasetasks.h"
#include "lookup.h"

/* Users of the host that a container's processes may run as. */
struct idspan {
	uint32_t first, size;
};

#define LEASE_VERSION 11		/* of the files; an upgrade is refused while another version is there (install.sh) */
#define LEASE_FILE_MAX (1 << 20)	/* bytes: a longer one could not be read, and would stop every grant */
#define LEASES_MAX 4096		/* that live at a time */

/* A lease's container: where its processes are, and what they can do. */
struct lease_container {
	struct process_id init;	/* the container's first process, once it exists */
	bool own_pids;		/* init is process 1 of a PID namespace: its end ends all processes of the container */
	uint64_t mnt_ns;	/* if own_pids is false, the container's own mount namespace (inode); 0: none */
	uint64_t pid_ns;		/* the PID namespace (inode) of all process numbers here; 0: unknown */
	/* the container's own cgroups; before it exists, where they may be (host/cgroup/cgroup.h) */
	struct strlist cgroups;
	struct idspan *user;	/* without a cgroup of its own (rootless): users whose open nodes count as use of it */
	size_t users;
	bool privileged;	/* it can undo its own device rules */
	bool hooked;		/* it runs hooks of a CDI spec, also at its end */
	bool host_root;		/* it has no user namespace, so its root is the host's */
};

/* What the scan of a helper found of a lease, and what was done about it. Not in the file. */
struct lease_scan {
	bool done;		/* whether it is over is known (leaseend.c end_if_over()) */
	bool releasing;		/* its state was set to releasing just now, so it must be scanned again */
	bool over;		/* found over, and still here: it could not be ended, or was not to be */
	bool has_access;	/* its container was seen to have access to more nodes than the lease says */
};

#define LEASE_NAME_SIZE 104

#define LEASE_KEY_SIZE HASH_SIZE
struct lease {
	char key[LEASE_KEY_SIZE];	/* hex SHA-256 of uid, runtime root and id; not in the file */
	char name[LEASE_NAME_SIZE];	/* of the file (leasename.h); "" until first written; not in the file */
	char *id, *root;	/* container id, runtime root */
	uint32_t uid;
	struct process_id asker;	/* the process that asked */
	char boot[40];
	int64_t since;		/* seconds since 1970 */
	char *policy, *pipeline;
	/* hex SHA-256 of what its token shares with others (reuse_by): one of these has a lease at a time; "": none */
	char reuse_hash[HASH_SIZE];
	char label[SECONTEXT_MAX];	/* SELinux label of its processes; "": none */
	struct lease_container container;
	struct leased_gpu *gpu;
	size_t gpus;
	struct edit_node *node;	/* its GPUs' own nodes, with mode, owner and group as of the grant */
	size_t nodes;
	struct leased_folder *folder;	/* if SELinux is on */
	size_t folders;
	/*
	 * to its folders, driver files and hooks; once it exists, unless «hooked», only to those it may write to as the
	 * host's root
	 */
	struct lookup *lookup;
	size_t lookups;
	bool planned;		/* it has changes to nodes, and none of them was begun */
	bool unscanned;		/* nobody has looked yet who else has its GPUs open: its container must not start */
	enum lease_state state;
	bool gpus_by_task;		/* not the container but its tasks get the GPUs: execs, whose end can be seen (plan.c) */
	struct lease_tasks tasks;
	struct lease_scan scan;
};

/* The file's text, which the caller frees; NULL: no memory. */
char *lease_encode(const struct lease *l);

/*
 * Reads the text back. 0, or -1 with *why for anything but a lease of this version; *l is then empty. Leaves
 * l->key and l->name alone.
 */
int lease_decode(const char *text, size_t len, struct lease *l, struct why *why);

/* Copies a lease as it is written down. lease_free() in either case. -1 with *why: memory is short. */
int lease_copy(const struct lease *from, struct lease *to, struct why *why);

/* Takes over the contents of *f, which are freed if it fails. False if memory is short. */
bool lease_add_folder(struct lease *l, struct leased_folder *f);
/* The same for *w. */
bool lease_add_lookup(struct lease *l, struct lookup *w);
void lease_free(struct lease *l);
#define autolease __attribute__((cleanup(lease_free)))

#define LEASE_LINE_MAX 320
/* Describes the GPUs for their user: «GPU 0000:3b:00.0 (exclusive), waited 38 s». */
void lease_describe(const struct lease *l, char out[LEASE_LINE_MAX]);

/* True if its container is only promised GPUs now. */
bool lease_only_promises(const struct lease *l);
/*
 * The GPUs that others can't have: the lease's own, or all that were promised, if its container was seen to have access
 * to more than the lease says.
 */
struct holding lease_holding(const struct lease *l);

/* True if the lease promises this GPU, or exactly this part of a GPU. */
bool lease_promises(const struct lease *l, const struct inventory *inv, const struct gpu *g);
/* True if all nodes of the lease were promised, so that its container has them. */
bool lease_has_promised_nodes(const struct lease *l);
/* Takes the GPUs and their nodes out. */
void lease_forget_gpus(struct lease *l);
/* True if its container may write to a folder as the host's root. */
bool lease_writes_as_root(const struct lease *l);
/* True if it has the same lookup path. */
bool lease_has_lookup(const struct lease *l, const struct lookup *w);
/* Reduces it to its lookup paths (LEASE_LEAKED). */
void lease_keep_lookups(struct lease *l);

#endif
