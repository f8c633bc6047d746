/* /run/gpuhelper: directories and files of root's own state. */
#ifndef GPUHELPER_ROOT_STATE_H
#define GPUHELPER_ROOT_STATE_H

#include <sys/types.h>

#include "../pure/text.h"
#include "../pure/why.h"

/* Opens /run/gpuhelper/NAME, making both where they are not there; root's alone, or it is refused. */
int state_dir(const char *name, struct why *why);
/* For a copy of the process that has closed all of its descriptors. */
void state_forget(void);
/* The names in a directory, sorted, at most max. */
int state_list(int dir, const char *shown, size_t max, struct strlist *out, struct why *why);
/* Writes a file whole or not at all: under a name with a dot first, then renamed. */
int state_write(int dir, const char *name, const char *text, mode_t mode, struct why *why);
/* Removes it, and what a writer that was killed left of it; -1 with errno. */
int state_remove(int dir, const char *name);

#define LOCK_WAIT_MS 1500	/* a waiter that asks again after this has its place still (queue.c) */

/*
 * Locks a file of a directory for this process alone, and waits for that so many
 * milliseconds at most: -1 with *why (WHY_AGAIN).  The lock lasts until what is returned is
 * closed.
 */
int state_lock(int dir, const char *name, int wait_ms, struct why *why);

/* The same of a file that is open, and called «shown» in *why; whoever closes it gives the lock back. */
int state_lock_fd(int fd, const char *shown, int wait_ms, struct why *why);

/* Sees that there is such a file, root's alone. */
int state_touch(int dir, const char *name, struct why *why);

#endif
