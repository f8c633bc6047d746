/* The command line of an exec, with what execplan.h changes. */
#ifndef GPUHELPER_USER_EXECARGS_H
#define GPUHELPER_USER_EXECARGS_H

#include "execplan.h"

/* Makes the new command line for this runtime, which stays until this process becomes it. NULL: memory is short. */
char **exec_args(int argc, char *const *argv, const struct command *c, const struct exec_plan *p,
    const struct exec_record *r, const char *runtime);

#endif
