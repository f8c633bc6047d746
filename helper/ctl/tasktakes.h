/* Whether the tasks of Concourse's containers take GPUs (pure/pausing.h), or their creation does. */
#ifndef GPUHELPER_CTL_TASKTAKES_H
#define GPUHELPER_CTL_TASKTAKES_H

#include <stdbool.h>
#include <stddef.h>

#include "../pure/settings.h"

/* Says which of the two, and why. True: the tasks do, for containers that this host's settings recognise. */
bool task_takes(bool enforced, const struct settings *s, char *text, size_t size);

#endif
