/*
 * A procfs that is mounted nowhere. On the host's /proc, users can watch who looks at their processes, and when
 * (inotify(7)); nobody else sees this one.
 */
#ifndef GPUHELPER_ROOT_SELF_OWNPROC_H
#define GPUHELPER_ROOT_SELF_OWNPROC_H

/*
 * Returns a descriptor of its directory, which the caller closes. -1: there can be none (no CAP_SYS_ADMIN, or Linux
 * before 5.2). Before Linux 5.8 it is the same as everyone's /proc.
 */
int own_proc(void);

#endif
