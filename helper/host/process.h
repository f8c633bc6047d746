/* Processes, as /proc shows them to whoever reads it (proc(5)). */
#ifndef GPUHELPER_HOST_PROCESS_H
#define GPUHELPER_HOST_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../pure/processid.h"

/* The start time of a process; false (errno) if it can't be read. */
bool process_start(pid_t pid, uint64_t *start);

/*
 * True if that process runs, or if nobody can see whether it does. False for a zombie without other threads: it
 * has closed its files and left its memory, and its parent may let it lie for as long as the parent likes.
 */
bool process_lives(pid_t pid, uint64_t start);
bool process_id_lives(struct process_id p);

/*
 * True if some process has this number. Nobody can keep who asks this waiting, which holds for nothing else here: who
 * waits in execve(2) for a file system of his own (FUSE) keeps everyone who looks into his /proc/PID.
 */
bool process_is_there(pid_t pid);

/*
 * The real uid of a process (PID beneath «proc»), which is who started it where it is setuid; false (errno) if it can't
 * be read.
 */
bool process_real_uid(int proc, const char *pid, uint32_t *out);

/* The parent's pid, 0 for one that can't be seen from here; -1 (errno) if it can't be read. */
pid_t process_parent(pid_t pid);

/* Does the error of a call on /proc/PID say that the process, or what was asked for of it, is no longer there? */
bool process_is_gone(int error);

/* /proc/sys/kernel/random/boot_id; false (errno) if it can't be read. */
bool boot_id(char out[40]);

#endif
