/*
 * Questions of the helper to gpuhelper-look (root/child/looker.h), and the answers, as bytes. Both programs are of one
 * installation, so members are sent as they are in memory. Only those parts of a lease are sent that say where and what
 * to look for. An answer consists of numbers.
 */
#ifndef GPUHELPER_ASK_LOOKASK_H
#define GPUHELPER_ASK_LOOKASK_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/why.h"
#include "../lease/leasefile.h"

#define LOOK_ASK_MAX (1U << 20)		/* bytes */
#define LOOK_ANSWER_MAX (64U << 10)
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
	LOOK_BOOT,		/* was the lease written in another boot? (look/leasekept.h) */
	LOOK_KEPT,		/* the same, and does anybody keep it? */
	LOOK_USE,		/* does a process of the lease's users have one of its nodes, or a mount of a node or folder? */
	LOOK_LEAKED,		/* does a process still have what has leaked of a container's writable folders? */
	LOOK_ACTIVITY,		/* the state of the container of a lease with «placeholder» (look/activity.h) */
	LOOK_HOLDERS,		/* which processes of containers have the nodes? */
};

/* This and struct look_answer have no padding. */
struct look_ask {
	struct look_head head;	/* of look_ask_pack() */
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
 * Of a lease, after struct look_ask: its boot, its processes and what they run. Then follow the arrays, in the order of
 * their counts.
 */
struct look_lease {
	char boot[40];
	struct process_id client, init;
	uint64_t mounts, pids;
	struct file_id program;
	struct process_id task;
	uint64_t users, nodes, cgroups, folders, lookups;
};

/* Why holders may have been missed. */
enum incomplete_kind {
	INCOMPLETE_NONE,
	INCOMPLETE_MEMORY,		/* memory is short */
	INCOMPLETE_PROC,		/* /proc can't be read */
	INCOMPLETE_FILES,	/* HOLDERS_MS were over, at this process */
	INCOMPLETE_UNSTEADY,		/* this process changes its threads or descriptors too fast */
	INCOMPLETE_CROWDED,		/* processes start too fast; this one was the last */
	INCOMPLETE_SLOW,		/* this process blocks its readers */
	INCOMPLETE_ENDED,		/* the scan was ended at this process */
};
struct look_incomplete {
	uint32_t kind;
	int32_t pid;		/* 0, up to INCOMPLETE_FILES: no process is to blame */
};

/* For LOOK_HOLDERS, a pid_t for each node follows (look/nodeholders.h). */
struct look_answer {
	struct look_head head;
	uint64_t nonce;		/* 0: no question could be answered; only «blocked» and «incomplete» count */
	int64_t until;		/* this and «left», «dirs»: what remains of the question's */
	uint32_t left, dirs;
	uint32_t yes;		/* 1: yes; LOOK_KEPT: somebody keeps it */
	uint32_t of_another_boot;
	uint32_t blocked;	/* milliseconds in which the scan waited for another process, not for a processor */
	uint32_t activity;		/* LOOK_ACTIVITY: activity_pack() (look/lookquestion.h) */
	struct look_incomplete incomplete;	/* LOOK_HOLDERS */
};

/* The head of this build, and whether another one is of this build. */
struct look_head look_head(void);
bool look_head_is_ours(const struct look_head *h);

/*
 * Packs the question, which look/lookquestion.h unpacks. The caller frees the *len bytes; NULL if memory is short.
 * Folders only for LOOK_USE and LOOK_KEPT of a lease with users, lookup paths only for LOOK_LEAKED.
 */
char *look_ask_pack(const struct look_ask *a, const struct lease *l, size_t *len);

/*
 * Reads the answer to *a. holder[n] gets the numbers after it: pid or -pid for each node. -1 with *why for an answer of
 * another version, to another question, or with a value that no scan finds: more steps left than before, say.
 */
int look_answer_read(const char *bytes, size_t len, const struct look_ask *a, pid_t *holder, size_t n,
    struct look_answer *out, struct why *why);

struct activity activity_unpack(uint32_t bits);

/* Fills *why with a line about the doubt. Returns -1. */
int incomplete_tell(const struct look_incomplete *d, struct why *why);

#endif
