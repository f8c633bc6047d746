/*
 * How a request is sent: a head of fixed size, then id maps, groups, leases whose access was revoked, and texts, each
 * as long as the head says, with nothing between them. Numbers are as in memory, since both programs are of one build
 * (wire.h has a version).
 */
#ifndef GPUHELPER_ASK_REQUESTHEAD_H
#define GPUHELPER_ASK_REQUESTHEAD_H

#include <stdint.h>

#define NONE UINT32_MAX		/* as a length: no such text; as a number of ranges: no mapping */
#define TEXTS 16		/* of a request */

enum flag {
	FLAG_SYSTEMD_CGROUP = 1,
	FLAG_DAC_OVERRIDE = 2,
	FLAG_PRIVILEGED = 4,
	FLAG_NO_OPS = 8,
	FLAG_IS_RUN = 16,
	FLAG_AWAIT_KEYS = 32,
	FLAG_PROMISES = 64,
	FLAG_SCAN_FIRST = 128,
	FLAGS = 255,
};

struct head {
	uint64_t init_inode;
	uint32_t init_major, init_minor;
	uint32_t verb, flags, uid, gid;
	uint32_t uid_ranges, gid_ranges, gids, revoked;
	uint64_t waiter_start;
	uint32_t waiter, unused;
	uint32_t text[TEXTS];	/* lengths in bytes, by the numbers of request_text() */
};
_Static_assert(sizeof(struct head) == 64 + 4 * TEXTS, "a head has no holes");

#endif
