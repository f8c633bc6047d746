/* The procfs through which processes are looked at: /proc, or the one given to procdir_use(). */
#ifndef GPUHELPER_HOST_PROCESS_PROCDIR_H
#define GPUHELPER_HOST_PROCESS_PROCDIR_H

#include <stddef.h>

/*
 * Opens its directory, with O_PATH or O_RDONLY in «flags». Returns a descriptor, which the caller closes, or
 * -1 with errno.
 */
int procdir_open(int flags);

/*
 * The same directory, opened once with O_PATH, for all short questions. Returns a descriptor, which stays open, or -1
 * with errno.
 */
int procdir_kept(void);

/*
 * Reads a whole file of it, «PID/stat» or «sys/...», never through a link as the last component. Returns the text,
 * terminated, which the caller frees; NULL with errno: EFBIG for more than «max» bytes.
 */
char *procdir_read(const char *name, size_t max);

/* For a copy of the process that has closed all of its descriptors. */
void procdir_forget(void);

/*
 * Makes this process, and the processes that it forks, use the procfs «proc», a descriptor, instead of /proc.
 * Takes over the descriptor. A procfs of another PID namespace than /proc's is closed and not used.
 */
void procdir_use(int proc);

#endif
