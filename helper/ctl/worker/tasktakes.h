/* Whether the tasks of Concourse's containers take GPUs (lease/leasetasks.h), or their creation does. */
#ifndef GPUHELPER_CTL_WORKER_TASKTAKES_H
#define GPUHELPER_CTL_WORKER_TASKTAKES_H

#include <stdbool.h>
#include <stddef.h>

#include "../../policy/settings.h"
#include "../../user/spec/spec.h"

/* What is known of the worker and its container. */
struct task_question {
	bool rootful;			/* a device cgroup limits the user's containers */
	const struct settings *settings;
	const struct spec *spec;	/* of the container; NULL: any container */
	const char *privilege;		/* what makes that container privileged, or "" */
	size_t candidates;		/* GPUs that it may get; 0: not known */
};

/*
 * Says which of the two, and why.  True: the tasks do, for containers that this host's settings recognise.  *fix (fix
 * may be NULL): the command that makes it so, if only a fault of the host is in the way; else NULL.
 */
bool task_takes(const struct task_question *q, char *text, size_t size, const char **fix);

/* The setting that keeps each task from taking GPUs itself, as «gpuhelper.conf sets …»; NULL: none does. */
const char *settings_against_tasks(const struct settings *s);

#endif
