/* The threads of a process, as /proc shows them (proc(5)). */
#ifndef GPUHELPER_HOST_TASK_H
#define GPUHELPER_HOST_TASK_H

#include <dirent.h>
#include <stdbool.h>

/* A directory beneath «proc»; NULL, with *gone where it is not there (any more).  The caller closes it. */
DIR *task_dir(int proc, const char *name, bool *gone);

/*
 * A link of procfs that leads to what could not be looked at: a user's file system may
 * keep even root out, or fail in any way (FUSE), but the link itself is there to be read.
 */
bool task_link_is_kept(int dir, const char *link);

/* «task» is PID/task/TID; own_files is false where its descriptors are those of a thread that was shown before. */
typedef bool task_test(void *ctx, const char *task, bool own_files);

/*
 * True if the test is true of a thread of the process (PID beneath «proc»), after
 * which no other is shown; or where the threads can't be seen.
 */
bool task_any(int proc, const char *pid, task_test *test, void *ctx);

#endif
