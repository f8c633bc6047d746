/* gpuhelperctl tags: what a Concourse worker can say of its GPUs, for pipelines that ask for a worker by tags. */
#ifndef GPUHELPER_CTL_TAGS_H
#define GPUHELPER_CTL_TAGS_H

#include "../pure/settings.h"
#include "../pure/text.h"

/* The tags of this host's GPUs, of those that a container may get; none where there are none.  -1 with *why. */
int tags_find(const struct settings *settings, struct strlist *out, struct why *why);

/*
 * «NAME=…», as the worker's environment has to have it; a tag with a comma, at which the worker would cut it, is left
 * out.  NULL: no memory.  The caller frees.
 */
char *tags_variable(const char *name, const struct strlist *tags);

#endif
