/* The worker and the engine that run on this host. */
#ifndef GPUHELPER_CTL_WORKER_H
#define GPUHELPER_CTL_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct worker {
	pid_t engine;		/* containerd, its shim, or Concourse's worker; 0: none can be seen */
	char name[16];		/* of that process */
	char *path;		/* in which it looks for «runc», and gpuhelper-runc for the runtime; NULL with engine 0 */
	pid_t concourse;	/* Concourse's worker; 0: none can be seen */
	char *volumes;		/* where it keeps root filesystems; NULL where that can't be seen */
	bool own_containerd;	/* the engine is the containerd that it started */
	bool quickstart;	/* it is one with a web node, and has its settings under other names */
	bool tagged;		/* it has tags */
};

/*
 * Looks at the processes of this user that are no container's, as far as who asks may read their command lines and
 * environments.  A process of root's counts only where its program is root's and has its name.  Of several engines it
 * takes Concourse's own containerd, then another, then a shim, then the worker.
 */
void worker_find(uint32_t uid, struct worker *out);
void worker_free(struct worker *w);

/* Does the path lead to gpuhelper-runc? */
bool leads_to_wrapper(const char *path);

#endif
