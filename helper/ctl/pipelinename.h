/* TEAM/PIPELINE, as a user names a pipeline on the command line and in tests of policies. */
#ifndef GPUHELPER_CTL_PIPELINENAME_H
#define GPUHELPER_CTL_PIPELINENAME_H

#include <stdbool.h>

struct options;

/* True if the text has a team and a pipeline. */
bool pipeline_name_is_whole(const char *name);

/* Checks --pipeline, which may be missing.  0, or the exit status after a complaint. */
int pipeline_option_check(const struct options *o, const char *command);

#endif
