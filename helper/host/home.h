/* Whose is a process: the host's, or a container's? */
#ifndef GPUHELPER_HOST_HOME_H
#define GPUHELPER_HOST_HOME_H

#include <stdbool.h>
#include <stdint.h>

/* What the host's processes have in common. */
struct home {
	uint64_t pids, users;		/* inodes of the namespaces */
	uint64_t root;			/* and of the root directory */
	uint32_t root_major, root_minor;
	bool odd_root;			/* its root directory can't be looked at, and is not known */
	bool all_seen;			/* we are in the first user namespace: no process is hidden from us */
};

/* This process's own, by «proc», a descriptor of /proc.  False with errno. */
bool home_find(int proc, struct home *out);

/*
 * 1 if the process (PID beneath «proc») is a container's: it has a PID or user
 * namespace, or a root directory, that is not the home's.  0 if not, or if it is gone;
 * -1 with errno where that can't be seen.
 */
int home_is_containers(const struct home *home, int proc, const char *pid);

#endif
