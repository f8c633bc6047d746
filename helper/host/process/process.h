/* Processes, as /proc shows them to the process that reads it (proc(5)). */
#ifndef GPUHELPER_HOST_PROCESS_PROCESS_H
#define GPUHELPER_HOST_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../kernel/processid.h"

/* Gets the start time of a process, in clock ticks since boot. False, with errno, if it can't be read. */
bool process_start(pid_t pid, uint64_t *start);

/*
 * True if the process runs, or if that can't be seen. False for a zombie without other threads: it has closed
 * its files and freed its memory, and its parent may leave it unreaped for as long as it likes.
 */
bool process_lives(pid_t pid, uint64_t start);
bool process_id_lives(struct process_id p);

/*
 * True if a process has this number. Nobody can make the caller wait here, unlike in every other function of
 * this file: a process whose execve(2) waits for a file system of its own (FUSE) delays everyone who looks
 * into its /proc/PID.
 */
bool process_is_there(pid_t pid);

/* The parent's process id, 0 if the parent can't be seen from here, -1 with errno if it can't be read. */
pid_t process_parent(pid_t pid);

/* True if this errno of a call on /proc/PID says that the process, or the file in there, no longer exists. */
bool process_is_gone(int error);

/* Gets /proc/sys/kernel/random/boot_id. False, with errno, if it can't be read. */
bool boot_id(char out[40]);

#endif
