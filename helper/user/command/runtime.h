/* Finds and runs the OCI runtime below the wrapper. */
#ifndef GPUHELPER_USER_COMMAND_RUNTIME_H
#define GPUHELPER_USER_COMMAND_RUNTIME_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../base/why.h"

/*
 * Must be called first: if the engine ignores SIGCHLD, the ends of our children would be lost. runtime_exec()
 * restores the engine's choice.
 */
void runtime_begin(void);

/*
 * The path of the runtime, which the caller frees: «configured» (from gpuhelper.conf; only root may be able
 * to change it) or, if that is NULL, the first «runc» in PATH that is not this wrapper. NULL with *why.
 */
char *runtime_find(const char *configured, struct why *why);

/* The same without «configured», and with this PATH instead of the process's own. */
char *runtime_find_in(const char *path, struct why *why);

/*
 * The first «runc» in a PATH that can be executed, which is the one that an engine with that PATH calls.
 * *wrapper says whether it is this wrapper. If «wrapper» is NULL, the first one that is not. The caller frees
 * the path. NULL if there is none or memory is short.
 */
char *runtime_first_in(const char *path, bool *wrapper);

/*
 * Executes the runtime with these arguments and with this process's environment, descriptors and directory.
 * Returns only if that fails, with -1 and *why.
 */
int runtime_exec(const char *path, char *const *argv, struct why *why);

/*
 * Forks, for verbs after which the wrapper has more to do. Returns 1 in the child, which goes on to
 * runtime_exec(), and 0 in the parent when the child has ended. *status is the child's status as a shell has
 * it (128 + signal). Passes signals on to the child. The child dies with this process if this process dies
 * with its parent (PDEATHSIG), or in any case if «bound» is true. Returns -1 with *why if it fails.
 */
int runtime_fork(int *status, bool bound, struct why *why);

/*
 * Runs «RUNTIME … delete --force ID», with the words that stand before the verb in argv. Ignores its output
 * and status.
 */
void runtime_delete(const char *path, char *const *argv, int verb_at, const char *id);

/*
 * Runs «RUNTIME … state ID» the same way. Returns the container's first process, or 0 if the runtime does not
 * say.
 */
pid_t runtime_first_process(const char *path, char *const *argv, int verb_at, const char *id);

/* True if the runtime knows this mount option («runtime features», features.md of OCI). */
bool runtime_has_mount_option(const char *path, const char *option);

#endif
