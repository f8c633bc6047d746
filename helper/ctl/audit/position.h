/* The file in which «audit follow» saves how much of the audit log was sent. */
#ifndef GPUHELPER_CTL_AUDIT_POSITION_H
#define GPUHELPER_CTL_AUDIT_POSITION_H

#include "../../base/why.h"
#include "../../lease/auditchain.h"

struct position {
	char *dir, *name;	/* of the file; NULL: no position is saved */
	int lock;		/* the locked directory, or -1 */
};

/*
 * Locks the directory of the file «path»; NULL: saves no position.  -1 with *why; the code is WHY_AGAIN if another
 * follower has the lock, as both would send the same records.  The caller calls position_close() in any case.
 */
int position_open(struct position *p, const char *path, struct why *why);
void position_close(struct position *p);

/* Loads the position; without a file, the position before the first record.  -1 with *why. */
int position_load(const struct position *p, struct audit_head *at, struct why *why);
/* Replaces the file.  -1 with *why. */
int position_save(const struct position *p, const struct audit_head *at, struct why *why);

#endif
