/*
 * A lease as it is written down: a file in /run/gpuhelper/leases, of lines (lines.h).
 * Values in, text out, and back; whoever reads one that is not of this form is
 * told so, for it may hold a GPU.  Opening and locking is helper/root/leaselist.c's.
 */
#ifndef GPUHELPER_PURE_LEASEFILE_H
#define GPUHELPER_PURE_LEASEFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "edits.h"
#include "heldfolder.h"
#include "pausing.h"
#include "pick.h"
#include "secontext.h"
#include "way.h"

/* Users of the host that a container's processes may run as. */
struct idspan {
	uint32_t first, size;
};

#define LEASE_VERSION 6		/* of the files; an upgrade is refused while one of another version is there (install.sh) */
#define LEASE_FILE_MAX (1 << 20)	/* bytes: a longer one would not be read, and stop everyone */
#define LEASES_MAX 4096		/* that live at a time */
#define ACT_NO_MASK (-1)
#define LEASE_MODE_UNKNOWN UINT32_MAX

/*
 * Something that was done to the host for a lease, and is undone with it.  It is
 * written down before it is done: so it may also not have been done yet.
 */
struct act {
	enum act_kind {
		ACT_ALLOW_USER,		/* an ACL entry «user:id:rw» on a node */
		ACT_ALLOW_GROUP,	/* likewise «group:id:rw» */
		ACT_MAKE_NODE,		/* the node itself */
		ACT_LABEL,		/* a node's SELinux label */
	} kind;
	char path[64];			/* of the node, beneath /dev */
	uint32_t major, minor;
	uint32_t id;			/* uid or gid of the host */
	int mask;			/* the ACL's mask (0 to 7) before the first entry of ours, or ACT_NO_MASK */
	uint64_t inode;			/* of a made node, once it is known */
	char label[SECONTEXT_MAX], was[SECONTEXT_MAX];	/* that it gets, that it had; "" but for ACT_LABEL */
};

/* The same thing done, for whichever lease: what the last of them undoes. */
bool act_same(const struct act *a, const struct act *b);
/* Done to the same node. */
bool act_same_node(const struct act *a, const struct act *b);

#define LEASE_NAME_SIZE 104

#define LEASE_KEY_SIZE 65
struct lease {
	char key[LEASE_KEY_SIZE];	/* SHA-256 of uid, runtime root and id, in hexadecimal digits; not in the file */
	char name[LEASE_NAME_SIZE];	/* of the file (leasename.h); "" until it is first written; not in the file */
	char *id, *root;	/* container id, runtime root */
	uint32_t uid;
	struct process_id asker;	/* the process that asked */
	struct process_id init;	/* the container's first process, once it is there */
	bool own_pids;		/* it is process 1 of a PID namespace: when it ends, everyone in the container does */
	uint64_t mounts;	/* where it is not: the mount namespace (inode) of its own that it is in; 0: none */
	uint64_t pids;		/* the PID namespace (inode) that all numbers of processes here are of; 0: not known */
	char boot[40];
	int64_t since;		/* seconds since 1970 */
	char *policy, *pipeline;
	char label[SECONTEXT_MAX];	/* SELinux, of its processes; "" where there is none */
	struct strlist cgroups;	/* once it is there, those that it has for itself; before, where they may be (host/cgroup.h) */
	struct held_gpu *gpu;
	size_t gpus;
	struct edit_node *node;	/* its GPUs' own nodes, with mode, owner and group as they were granted */
	size_t nodes;
	struct idspan *user;	/* where no cgroup is the container's own (rootless): users whose open nodes keep it */
	size_t users;
	struct held_folder *folder;	/* where SELinux is on */
	size_t folders;
	bool privileged;	/* it can undo its own device rules */
	bool hooked;		/* hooks of a CDI spec are run for it, at its end, too */
	bool host_root;		/* the host's root is in the container: it has no user namespace */
	struct way *way;	/* to its folders; once it is made, to those that it may write in as the host's root */
	size_t ways;
	struct act *act;
	size_t acts;
	bool planned;		/* the acts are, and not to be done yet: the grant is not in the audit log */
	enum lease_state state;
	bool pauses;		/* its tasks are execs: it knows when they are over */
	struct pausing pausing;
	bool judged;		/* whether it is over is known (leaseend.h); not in the file */
	bool drained;		/* just now, and to be looked at once more (leaseend.h); likewise */
	bool over;		/* seen over, and left alone; likewise */
	bool reopened;		/* given back, and its container was seen to have access all the same; likewise */
};

/* The file's text, which the caller frees; NULL: no memory. */
char *lease_encode(const struct lease *l);

/*
 * Reads the text back.  -1 with *why for what is no lease of this version; *l is
 * then empty.  l->key and l->name are left alone.
 */
int lease_decode(const char *text, size_t len, struct lease *l, struct why *why);

/* Adds a copy, unless the same one is there; false: no memory. */
bool lease_add_act(struct lease *l, const struct act *a);
/* Takes what *f has over; false, and freed, where there is no memory. */
bool lease_add_folder(struct lease *l, struct held_folder *f);
/* Likewise. */
bool lease_add_way(struct lease *l, struct way *w);
void lease_free(struct lease *l);

#define LEASE_LINE_MAX 320
/* «GPU 0000:3b:00.0 (exclusive), waited 38 s», for the user who has them. */
void lease_describe(const struct lease *l, char out[LEASE_LINE_MAX]);

/* True if it was given back. */
bool lease_is_given_back(const struct lease *l);
/* True if its GPUs are not someone else's to have. */
bool lease_holds(const struct lease *l);

/*
 * Adds its GPUs in words in which a task's author would ask for them; parts of AMD's, which have no name of their own,
 * by number.  False: no memory.
 */
bool lease_words(const struct lease *l, struct buf *words);
/* Is the GPU of the inventory, or just that part of one, the lease's? */
bool lease_has_gpu(const struct lease *l, const struct inventory *inv, const struct gpu *g);
/* Do both have the same nodes? */
bool lease_same_nodes(const struct lease *a, const struct lease *b);
/* True if its container may write in a folder as the host's root. */
bool lease_writes_as_root(const struct lease *l);
/* True if one of its ways is the same. */
bool lease_has_way(const struct lease *l, const struct way *w);
/* Makes it one that holds its ways alone (LEASE_PASSED_ON). */
void lease_keep_ways(struct lease *l);

/* Is this chore still to be done, by what the lease says now? */
bool lease_wants(const struct lease *l, const struct chore *c);

#endif
