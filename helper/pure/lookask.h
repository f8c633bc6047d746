/*
 * Questions of the helper to its looker (root/looker.h), as bytes. Both are the same program, so members are sent as
 * they are in memory. Only those parts of a lease are sent that say where and what to look for.
 */
#ifndef GPUHELPER_PURE_LOOKASK_H
#define GPUHELPER_PURE_LOOKASK_H

#include <stdbool.h>
#include <stdint.h>

#include "leasefile.h"

struct look_ask {
	uint64_t nonce;		/* repeated in the answer; never 0 */
	enum look_kind {
		LOOK_BOOT,	/* was the lease written in another boot? (host/leaselife.h) */
		LOOK_LIFE,	/* the same, and does anybody keep it? */
		LOOK_USE,	/* does a process of the lease's users have one of its nodes, or a mount of a node or folder? */
		LOOK_PASSED,	/* does anyone have what a container passed on of its writable folders? */
		LOOK_TASK,	/* the state of the container of a lease with «pauses» (host/container.h) */
		LOOK_HOLDERS,	/* which processes of containers have the nodes? */
	} kind;
	bool anew;		/* believe nothing that was seen for earlier questions */
	uint32_t patience;	/* milliseconds until the looker is ended */
	uint32_t left;		/* looks left (host/opennode.h, struct looks) */
	int64_t until;
	uint32_t dirs;		/* of cgroups, likewise */
};

/* For LOOK_HOLDERS, a pid_t for each node follows (host/holders.h). */
struct look_answer {
	uint64_t nonce;		/* 0: no question could be answered */
	bool yes;		/* LOOK_LIFE: somebody keeps it */
	bool of_another_boot;
	uint32_t blocked;	/* milliseconds in which the looker waited for another process, not for a processor */
	uint32_t left, dirs;	/* what remains of the question's left and dirs */
	int64_t until;
	struct sight sight;	/* LOOK_TASK */
	struct why why;		/* LOOK_HOLDERS: why not all could be seen; else WHY_NONE */
};

/*
 * Packs the question. The caller frees the *len bytes; NULL if memory is short. Of *l it sends struct fixed
 * (lookask.c) and the arrays after it; folders only for LOOK_USE and LOOK_LIFE of a lease with users, ways
 * only for LOOK_PASSED.
 */
char *look_ask_pack(const struct look_ask *a, const struct lease *l, size_t *len);

/* Unpacks it. False for bytes that look_ask_pack() does not make. The caller frees *l in any case. */
bool look_ask_unpack(const char *bytes, size_t len, struct look_ask *a, struct lease *l);

#endif
