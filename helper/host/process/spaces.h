/* The namespaces of processes (namespaces(7)), as /proc shows them. */
#ifndef GPUHELPER_HOST_PROCESS_SPACES_H
#define GPUHELPER_HOST_PROCESS_SPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The inode of the initial PID namespace (PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h). */
#define SPACE_FIRST_PIDS 0xeffffffcU
/* The inode of the initial time namespace (PROC_TIME_INIT_INO). */
#define SPACE_FIRST_TIME 0xeffffffaU

/*
 * Gets the inode of a process's namespace. «kind» is its name in /proc/PID/ns, «pid» a path beneath the
 * directory «proc» ("self", "12", "12/task/13"). False with errno if it can't be seen.
 */
bool space_find(int proc, const char *pid, const char *kind, uint64_t *inode);

/* The same for a process id. */
bool space_of(pid_t pid, const char *kind, uint64_t *inode);

#endif
