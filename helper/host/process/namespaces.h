/* The namespaces of processes (namespaces(7)), as /proc shows them. */
#ifndef GPUHELPER_HOST_PROCESS_NAMESPACES_H
#define GPUHELPER_HOST_PROCESS_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The inode of the initial PID namespace (PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h). */
#define INIT_PID_NS 0xeffffffcU
/* The inode of the initial time namespace (PROC_TIME_INIT_INO). */
#define INIT_TIME_NS 0xeffffffaU

/*
 * Gets the inode of a process's namespace. «kind» is its name in /proc/PID/ns, «pid» a path beneath the
 * directory «proc» ("self", "12", "12/task/13"). False with errno if it can't be seen.
 */
bool ns_find(int proc, const char *pid, const char *kind, uint64_t *inode);

/* The same for a process id. */
bool ns_of(pid_t pid, const char *kind, uint64_t *inode);

#endif
