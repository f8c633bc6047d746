/*
 * Namespaces of processes (namespaces(7)), as /proc shows them: which one a
 * process is in, and whether anyone is in one.
 */
#ifndef GPUHELPER_HOST_SPACES_H
#define GPUHELPER_HOST_SPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../pure/processid.h"

/* The PID namespace that the kernel starts with (PROC_PID_INIT_INO of include/linux/proc_ns.h). */
#define SPACE_FIRST_PIDS 0xeffffffcU
/* Likewise, of time (PROC_TIME_INIT_INO). */
#define SPACE_FIRST_TIME 0xeffffffaU

/*
 * The inode of a namespace: «kind» is its name in /proc/PID/ns, «pid» a name
 * beneath the directory «proc» ("self", "12", "12/task/13").  False (errno) where
 * it can't be seen.
 */
bool space_find(int proc, const char *pid, const char *kind, uint64_t *inode);

/* The same, of a process by its number. */
bool space_of(pid_t pid, const char *kind, uint64_t *inode);

/* Those namespaces of one kind that anyone is in: read once, for many questions. */
struct space_set {
	uint64_t *inode;		/* in their order */
	size_t n, room;
	bool read, failed;
};
/*
 * True if a process, or a thread of one, is in this namespace; or where that can't
 * be seen.  The first question reads the set, with a look at every thread there is.
 */
bool space_set_has(struct space_set *s, const char *kind, uint64_t inode);
/* After that: true if one was seen there, and nobody could not be looked at. */
bool space_set_shows(const struct space_set *s, uint64_t inode);
void space_set_free(struct space_set *s);

/*
 * True if a process lives that has this number in that PID namespace, and this start
 * time; or where that can't be seen.  For a namespace beneath our own: of another one nobody
 * is to be seen.
 */
bool space_has_process(uint64_t pids, struct process_id p);

#endif
