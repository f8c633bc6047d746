/* Handles exec: keeps the token out, applies the grant of create again, and tells the user of the GPU. */
#ifndef GPUHELPER_USER_EXEC_H
#define GPUHELPER_USER_EXEC_H

#include "../policy/settings.h"
#include "command/argv.h"

/*
 * Engines start every process by «exec --process FILE» with an environment of their own, without what create
 * changed. Returns the argv to run instead, made of words of argv and new ones: --process with a memfd in place of
 * FILE, --env without the token, --process-label with the lease's label, and the waiter before the program
 * (task/waiter.h). It is valid until this process becomes the runtime. That must follow at once, because the lease
 * counts on the exec by then. Returns NULL with *why. Also refuses capabilities that privileged = "deny" keeps from a
 * container without a user namespace.
 */
char **exec_prepare(int argc, char *const *argv, const struct command *c, const char *runtime,
    const struct settings *settings, struct why *why);

#endif
