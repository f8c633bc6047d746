/*
 * What the helper asks its looker (root/looker.h), as bytes: both are the same program, so numbers stand as they lie
 * in memory. Of a lease only what says where to look and for what.
 */
#ifndef GPUHELPER_PURE_LOOKASK_H
#define GPUHELPER_PURE_LOOKASK_H

#include <stdbool.h>
#include <stdint.h>

#include "leasefile.h"

struct look_ask {
	uint64_t nonce;		/* which the answer repeats; never 0 */
	enum look_kind {
		LOOK_BOOT,	/* is the lease of another boot? (host/leaselife.h) */
		LOOK_LIFE,	/* the same, and does anybody keep it? */
		LOOK_USE,	/* has a process of the lease's users one of its nodes, or a mount of it or of a folder? */
		LOOK_PASSED,	/* has anyone what a container passed on of the folders that it could write in? */
		LOOK_TASK,	/* how does the container of a lease with «pauses» stand? (host/container.h) */
		LOOK_HOLDERS,	/* which containers' processes have the nodes? */
	} kind;
	bool anew;		/* what was seen for the questions before is not to be believed */
	uint32_t patience;	/* milliseconds, and then who looks is ended */
	uint32_t left;		/* how much may be looked at (host/opennode.h, struct looks) */
	int64_t until;
	uint32_t dirs;		/* of cgroups, likewise */
};

/* After it, for LOOK_HOLDERS, a pid_t for each node (host/holders.h). */
struct look_answer {
	uint64_t nonce;		/* 0: nobody could see it, whatever was asked */
	bool yes;		/* for LOOK_LIFE: somebody keeps it */
	bool of_another_boot;
	uint32_t blocked;	/* milliseconds in which who looked had to wait for somebody, and not for a processor */
	uint32_t left, dirs;	/* of the question's */
	int64_t until;
	struct sight sight;	/* for LOOK_TASK */
	struct why why;		/* for LOOK_HOLDERS; WHY_NONE where all could be seen */
};

/*
 * The bytes, *len of them, which the caller frees; NULL: no memory. Of *l counts what struct fixed in lookask.c has,
 * and the arrays that follow it; folders for LOOK_USE and LOOK_LIFE of one with users, ways for LOOK_PASSED.
 */
char *look_ask_pack(const struct look_ask *a, const struct lease *l, size_t *len);

/* Reads them back; the caller frees *l in either case. False for bytes that look_ask_pack() does not make. */
bool look_ask_unpack(const char *bytes, size_t len, struct look_ask *a, struct lease *l);

#endif
