/* exec: the token stays out, and what the grant gave at create is given again. */
#ifndef GPUHELPER_USER_EXEC_H
#define GPUHELPER_USER_EXEC_H

#include "argv.h"

/*
 * Engines start every process by «exec --process FILE» with an environment of
 * their own, which never saw what create changed.  Returns the argv to run
 * instead, made of argv's own words and new ones: --process with a memfd in
 * place of FILE, --env without the token.  It lives until the process becomes
 * the runtime.  NULL with *why.
 */
char **exec_prepare(int argc, char *const *argv, struct command *c, const char *runtime, struct why *why);

#endif
