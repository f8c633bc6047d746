/* The process file system by which processes are looked at: /proc, or the one that procdir_use() was given. */
#ifndef GPUHELPER_HOST_PROCDIR_H
#define GPUHELPER_HOST_PROCDIR_H

/* Its directory; O_PATH or O_RDONLY, which the caller closes; -1 with errno. */
int procdir_open(int flags);

/*
 * From now on that one, in this process and those that it starts; it keeps the descriptor. One that shows another PID
 * namespace than /proc is closed, and /proc it stays.
 */
void procdir_use(int proc);

#endif
