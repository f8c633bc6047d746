/* How far the audit log was sent: a file that «audit follow» replaces after each of its steps. */
#ifndef GPUHELPER_CTL_POSITION_H
#define GPUHELPER_CTL_POSITION_H

#include "../pure/auditchain.h"
#include "../pure/why.h"

struct position {
	char *dir, *name;	/* of the file; NULL: none is kept */
	int lock;		/* the directory, locked; -1: none */
};

/*
 * Where it is kept; NULL: nowhere.  -1 with *why (WHY_AGAIN: another follower has it, and each would send what the
 * other has sent).  position_close() in either case.
 */
int position_open(struct position *p, const char *path, struct why *why);
void position_close(struct position *p);

/* What is written there; that of a log without records where nothing is.  -1 with *why. */
int position_load(const struct position *p, struct audit_head *at, struct why *why);
int position_save(const struct position *p, const struct audit_head *at, struct why *why);

#endif
