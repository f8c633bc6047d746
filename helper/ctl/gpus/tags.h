/* gpuhelperctl tags: tags that describe a Concourse worker's GPUs, so that pipelines can select the worker. */
#ifndef GPUHELPER_CTL_GPUS_TAGS_H
#define GPUHELPER_CTL_GPUS_TAGS_H

#include "../../base/text.h"
#include "../../policy/settings.h"

/* Adds the tags for the GPUs that containers on this host may get; without such a GPU, no tags.  -1 with *why. */
int tags_find(const struct settings *settings, struct strlist *out, struct why *why);

/*
 * Makes «NAME=TAG,TAG» for the worker's environment.  Leaves out tags that contain a comma, where the worker would
 * split them.  The caller frees; NULL: out of memory.
 */
char *tags_variable(const char *name, const struct strlist *tags);

#endif
