/* What the kernel tells of a process's descriptor (proc(5), fdinfo). */
#ifndef GPUHELPER_HOST_PROCESS_FDINFO_H
#define GPUHELPER_HOST_PROCESS_FDINFO_H

#define FDINFO_LACKS (-1L)
#define FDINFO_GONE (-2L)

/*
 * The number after «word» in the fdinfo of a descriptor of the thread (PID/task/TID beneath the directory «proc»).
 * FDINFO_LACKS if there is none or it can't be read, FDINFO_GONE if the descriptor is gone.
 */
long fdinfo_number(int proc, const char *thread, const char *fd, const char *word);

/*
 * How many descriptors wait in the queue of this socket: sent to it (SCM_RIGHTS), and not received. 0 for other
 * sockets than Unix ones. FDINFO_LACKS before Linux 5.6, which does not tell; FDINFO_GONE.
 */
long fdinfo_in_flight(int proc, const char *thread, const char *fd);

#endif
