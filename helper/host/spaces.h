/*
 * The namespaces of processes (namespaces(7)), as /proc shows them: which one a process is in, and whether
 * any process is in one.
 */
#ifndef GPUHELPER_HOST_SPACES_H
#define GPUHELPER_HOST_SPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../pure/processid.h"

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

/* The namespaces of one kind that have processes, read once for many questions. */
struct space_set {
	uint64_t *inode;		/* sorted, once it was read */
	size_t n, room;
	bool read, failed;
};
/*
 * True if a process, or a thread of one, is in this namespace, or if that can't be seen. The first call reads
 * the set, which looks at every thread of the host.
 */
bool space_set_has(struct space_set *s, const char *kind, uint64_t inode);
/* After space_set_has(): true if a process was seen there and every process could be looked at. */
bool space_set_shows(const struct space_set *s, uint64_t inode);
void space_set_free(struct space_set *s);

/*
 * True if a live process has this number in the PID namespace «pids» and this start time, or if that can't be
 * seen. Only for a namespace beneath our own: processes of other namespaces are invisible here.
 */
bool space_has_process(uint64_t pids, struct process_id p);

#endif
