/* exec: the token stays out, what the grant gave at create is given again, and the user is told of it. */
#ifndef GPUHELPER_USER_EXEC_H
#define GPUHELPER_USER_EXEC_H

#include "../pure/settings.h"
#include "argv.h"

/*
 * Engines start every process by «exec --process FILE» with an environment of
 * their own, which never saw what create changed.  Returns the argv to run
 * instead, made of argv's own words and new ones: --process with a memfd in
 * place of FILE, --env without the token, --process-label with the lease's, --console-socket
 * as console.h says.  It lives until the process becomes the runtime, which has to follow at once: by then
 * the container's lease knows of it.  NULL with *why, also for capabilities that
 * privileged = "deny" keeps from a container without a user namespace.
 */
char **exec_prepare(int argc, char *const *argv, const struct command *c, const char *runtime,
    const struct settings *settings, struct why *why);

#endif
