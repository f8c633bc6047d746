/* The OCI runtime below the wrapper. */
#ifndef GPUHELPER_USER_RUNTIME_H
#define GPUHELPER_USER_RUNTIME_H

#include <stdbool.h>
#include <sys/types.h>

#include "../pure/why.h"

/*
 * To be called first: an engine may ignore SIGCHLD, and our own children's ends
 * would be lost.  runtime_exec() leaves it as it came.
 */
void runtime_begin(void);

/*
 * The runtime to run: «configured» (gpuhelper.conf; its path must be root's
 * alone) or, if that is NULL, the first «runc» in PATH that is not this wrapper.
 * NULL with *why; the caller frees.
 */
char *runtime_find(const char *configured, struct why *why);

/* The same by a PATH alone, which may be another process's. */
char *runtime_find_in(const char *path, struct why *why);

/*
 * The first «runc» of a PATH that can be executed, which is what an engine with that
 * PATH calls; *wrapper says whether it is this wrapper.  With wrapper NULL, the first
 * one that is not.  NULL: there is none, or no memory.  The caller frees.
 */
char *runtime_first_in(const char *path, bool *wrapper);

/*
 * Executes it with our own argv, environment, descriptors and directory.  Comes
 * back only where that fails, with -1.
 */
int runtime_exec(const char *path, char *const *argv, struct why *why);

/*
 * For verbs after which there is something left to do: forks.  Returns 1 in the
 * child, which goes on to runtime_exec(); and 0 in the parent, once the child is
 * done, with its status the way a shell would say it (128 + signal).  Signals
 * are handed through; the child dies with us where we die with our parent
 * (PDEATHSIG), and if it is bound, in any case.  -1 with *why.
 */
int runtime_fork(int *status, bool bound, struct why *why);

/* «RUNTIME … delete --force ID», with the words that stand before the verb in our own argv; says nothing. */
void runtime_delete(const char *path, char *const *argv, int verb_at, const char *id);

/* «RUNTIME … state ID»: the container's first process; 0 where the runtime does not say. */
pid_t runtime_first_process(const char *path, char *const *argv, int verb_at, const char *id);

/* True if the runtime says that it knows a mount option («runtime features», OCI features.md). */
bool runtime_has_mount_option(const char *path, const char *option);

#endif
