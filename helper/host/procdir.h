/* The procfs through which processes are looked at: /proc, or the one given to procdir_use(). */
#ifndef GPUHELPER_HOST_PROCDIR_H
#define GPUHELPER_HOST_PROCDIR_H

/*
 * Opens its directory, with O_PATH or O_RDONLY in «flags». Returns a descriptor, which the caller closes, or
 * -1 with errno.
 */
int procdir_open(int flags);

/*
 * Makes this process, and the processes that it forks, use the procfs «proc», a descriptor, instead of /proc.
 * Takes over the descriptor. A procfs of another PID namespace than /proc's is closed and not used.
 */
void procdir_use(int proc);

#endif
