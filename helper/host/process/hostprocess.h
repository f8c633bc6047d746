/* Whether a process is the host's or a container's. */
#ifndef GPUHELPER_HOST_PROCESS_HOSTPROCESS_H
#define GPUHELPER_HOST_PROCESS_HOSTPROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* What all processes of the host have in common. */
struct host_process {
	uint64_t pids, users;		/* inodes of the namespaces */
	uint64_t root;			/* inode of the root directory */
	uint32_t root_major, root_minor;
	bool root_hidden;			/* the root directory can't be looked at, so root is unset */
	bool all_seen;			/* we are in the initial user namespace, so no process is hidden from us */
};

/* Gets what this process has, from the descriptor «proc» of /proc. False with errno. */
bool host_process_find(int proc, struct host_process *out);

/*
 * Returns 1 if the process (PID beneath «proc») is a container's: its PID namespace, user namespace or root directory
 * differs from the host's. Returns 0 if not, or if it is gone, and -1 with errno if that can't be seen. «tid», unless
 * NULL, gets the thread that was looked at; "" if there is none.
 */
int process_in_container(const struct host_process *host, int proc, const char *pid, char tid[16]);

#endif
