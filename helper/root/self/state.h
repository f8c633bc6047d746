/* Root's own state in /run/gpuhelper: directories, files and locks. */
#ifndef GPUHELPER_ROOT_SELF_STATE_H
#define GPUHELPER_ROOT_SELF_STATE_H

#include <sys/types.h>

#include "../../base/text.h"
#include "../../base/why.h"

/*
 * Opens /run/gpuhelper/NAME, and makes both directories if they are missing. Returns a descriptor, which the caller
 * closes. -1 with *why: also if one of them is not root's alone.
 */
int state_dir(const char *name, struct why *why);
/* For a copy of the process that has closed all of its descriptors: opens /run/gpuhelper anew next time. */
void state_forget(void);
/*
 * Lists the names in a directory, sorted; «shown» names it in *why. -1 with *why: also (WHY_AGAIN) if
 * there are more than max.
 */
int state_list(int dir, const char *shown, size_t max, struct strlist *out, struct why *why);
/*
 * Writes a file whole or not at all: as NAME.new first, which is then renamed. The file is root's, with
 * this mode. -1 with *why.
 */
int state_write(int dir, const char *name, const void *bytes, size_t len, mode_t mode, struct why *why);
/* Removes the file, and NAME.new if a killed writer left it. No file is no error. -1 with errno. */
int state_remove(int dir, const char *name);

/*
 * Locks a file of a directory, which it makes if it is missing, for this process alone. Waits for the lock at
 * most wait_ms milliseconds. Returns a descriptor; closing it releases the lock. -1 with *why (WHY_AGAIN:
 * another helper has the lock).
 */
int state_lock(int dir, const char *name, int wait_ms, struct why *why);

/* The same for an open file, which *why calls «shown». 0 or -1; closing the file releases the lock. */
int state_lock_fd(int fd, const char *shown, int wait_ms, struct why *why);

#endif
