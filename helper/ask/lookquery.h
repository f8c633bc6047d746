/*
 * Questions of the helper to gpuhelper-look (root/child/looker.h), and the answers, as bytes. Both programs are of one
 * installation, so members are sent as they are in memory. Only those parts of a lease are sent that say where and what
 * to look for. An answer consists of numbers; after one about paths follow lines (pathsquery.h).
 */
#ifndef GPUHELPER_ASK_LOOKQUERY_H
#define GPUHELPER_ASK_LOOKQUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/why.h"
#include "../lease/leasefile.h"
#include "pathsquery.h"

#define LOOK_QUERY_MAX (16U << 20)	/* bytes; mostly folders */
#define LOOK_ANSWER_MAX (64U << 10)
#define LOOK_PATHS_MAX (8U << 20)	/* the same for LOOK_PATHS; pathscheck.c takes no more than a lease can hold */
#define LOOK_VERSION_MAX 16
#define LOOK_EARLY 1		/* the byte before the first question: start the process that scans at once; otherwise 0 */

/*
 * Begins each message. Programs that are not of one installation may differ in the rest, so this is compared before
 * the rest is read.
 */
struct look_head {
	char version[LOOK_VERSION_MAX];		/* GPUHELPER_VERSION */
	uint64_t form;				/* made from the sizes of what follows */
};

enum look_kind {
	LOOK_BOOT,		/* was the lease written in another boot? (look/leaseinuse.h) */
	LOOK_IN_USE,		/* the same, and is it in use? */
	LOOK_ROOTLESS_USE,		/* does a process of the lease's users have one of its nodes, or a mount of a node or folder? */
	LOOK_LEAKED,		/* does a process still have what has leaked of a container's writable folders? */
	LOOK_ACTIVITY,		/* the state of the container of a lease with «gpus_by_task» (look/activity.h) */
	LOOK_WAITER,		/* which process of the container has the number and start time of «task»? */
	LOOK_OPENERS,		/* which processes of containers have the nodes? */
	LOOK_PATHS,		/* where do these paths lead? struct paths_query follows, and no lease */
};

/* This and struct look_answer have no padding. */
struct look_query {
	struct look_head head;	/* of look_query_pack() */
	uint64_t nonce;		/* repeated in the answer; never 0 */
	int64_t until;		/* this and «left»: of struct budget (scanbudget.h) */
	uint32_t left;
	uint32_t dirs;		/* of cgroups, likewise */
	uint32_t kind;		/* enum look_kind */
	uint32_t timeout;	/* milliseconds until the scan is ended */
	uint32_t anew;		/* 1: believe nothing that was seen for earlier questions */
	uint32_t zero;
};

/*
 * Of a lease, after struct look_query: its boot, its processes and what they run. Then follow the arrays, in the order
 * of their counts.
 */
struct look_lease {
	char boot[40];
	struct process_id asker, init;
	uint64_t mnt_ns, pid_ns;	/* inodes of namespaces */
	struct file_id program;
	struct process_id task;
	uint64_t users, nodes, cgroups, folders, lookups;
};

/* Why openers may have been missed. */
enum incomplete_kind {
	INCOMPLETE_NONE,
	INCOMPLETE_MEMORY,		/* memory is short */
	INCOMPLETE_PROC,		/* /proc can't be read */
	INCOMPLETE_FILES,	/* OPENERS_MS were over, at this process */
	INCOMPLETE_UNSTEADY,		/* this process changes its threads or descriptors too fast */
	INCOMPLETE_CROWDED,		/* processes start too fast; this one was the last */
	INCOMPLETE_SLOW,		/* this process blocks its readers */
	INCOMPLETE_ENDED,		/* the scan was ended at this process */
};
struct look_incomplete {
	uint32_t kind;
	int32_t pid;		/* may be 0 for the kinds up to INCOMPLETE_FILES */
};

/* What follows it says struct look_more. */
struct look_answer {
	struct look_head head;
	uint64_t nonce;		/* 0: no question could be answered; only «blocked» and «incomplete» count */
	int64_t until;		/* this and «left», «dirs»: what remains of the question's */
	uint32_t left, dirs;
	uint32_t yes;		/* 1: yes; LOOK_IN_USE: it is in use */
	uint32_t of_another_boot;
	uint32_t blocked;	/* milliseconds in which the scan waited for another process, not for a processor */
	uint32_t seen;		/* LOOK_ACTIVITY: activity_pack() (look/lookquestion.h); LOOK_WAITER: the process, 0: none */
	struct look_incomplete incomplete;	/* LOOK_OPENERS */
};

/* The head of this build, and whether another one is of this build. */
struct look_head look_head(void);
bool look_head_is_ours(const struct look_head *h);

/*
 * Packs the question, which look/lookquestion.h unpacks. The caller frees the *len bytes; NULL if memory is short.
 * Folders only for LOOK_ROOTLESS_USE and LOOK_IN_USE of a lease with users, lookup paths only for LOOK_LEAKED.
 */
char *look_query_pack(const struct look_query *a, const struct lease *l, size_t *len);
/* The same for LOOK_PATHS, with the lines of a struct paths_query. */
char *look_paths_pack(const struct look_query *a, const struct buf *lines, size_t *len);

/* How long the answer may be. */
uint32_t look_answer_max(const struct look_query *a);

/* What follows struct look_answer. */
struct look_more {
	pid_t *opener;			/* LOOK_OPENERS: pid or -pid for each of so many nodes (look/nodeopeners.h) */
	size_t openers;
	struct buf *lines;		/* LOOK_PATHS: lines of a struct paths_answer, as they are; else NULL */
};

/*
 * Reads the answer to *a, and *more after it. -1 with *why for an answer of another version, to another question, or
 * with a value that no scan finds: more steps left than before, say.
 */
int look_answer_read(const char *bytes, size_t len, const struct look_query *a, const struct look_more *more,
    struct look_answer *out, struct why *why);

struct activity activity_unpack(uint32_t bits);

/* Fills *why with a line about that. Returns -1. */
int incomplete_tell(const struct look_incomplete *d, struct why *why);

#endif
