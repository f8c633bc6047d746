/*
 * A process file system that is mounted nowhere. Who sees the host's /proc can watch by it who looks at his processes,
 * and when (inotify(7)); this one nobody else sees.
 */
#ifndef GPUHELPER_ROOT_OWNPROC_H
#define GPUHELPER_ROOT_OWNPROC_H

/*
 * Its directory, which the caller closes; -1: there can be none (no CAP_SYS_ADMIN, Linux before 5.2). Before
 * Linux 5.8 it is the /proc of everyone.
 */
int own_proc(void);

#endif
