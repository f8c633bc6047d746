/*
 * See tasktakes.h.  The helper decides when a container is created (root/grant/plan.c, fill_tasks()): only then it
 * sees the engine's cgroup driver, and the file of the first process.
 */
#include "tasktakes.h"

#include <stdio.h>
#include <unistd.h>

#include "../../lease/leasetasks.h"
#include "../../user/task/waiterfile.h"

static const char privileged[] = "it is privileged: it ";	/* q->privilege follows */

const char *
settings_against_tasks(const struct settings *s)
{
	if (s->placeholder_init.n == 0)
		return "gpuhelper.conf sets placeholder_init = [ ]";
	if (s->idle == IDLE_KEEP)
		return "gpuhelper.conf sets idle = \"keep\"";
	if (s->driver_files == DRIVER_FILES_VENDOR_RUNTIME)
		return "gpuhelper.conf sets driver_files = \"vendor-runtime\"";
	return NULL;
}

/* What is in the way on this worker; NULL: nothing. */
static const char *
worker_against(const struct task_question *q, const char **fix)
{
	const char *setting = settings_against_tasks(q->settings);

	if (!q->rootful)
		return "no device cgroup limits this user's containers";
	if (setting != NULL || waiter_is_usable())
		return setting;
	*fix = access(WAITER_PROGRAM, X_OK) == -1 ? "make install" : "sysctl vm.memfd_noexec=1";
	return access(WAITER_PROGRAM, X_OK) == -1 ? WAITER_PROGRAM " is missing" :
	    "vm.memfd_noexec = 2 lets no memory file be executed";
}

/* The same for this container. */
static const char *
container_against(const struct task_question *q)
{
	const char *first = q->spec != NULL ? q->spec->first_arg : NULL;

	if (q->candidates > PROMISED_GPUS_MAX)
		return "the policy allows too many GPUs";
	if (q->spec != NULL && q->privilege[0] != '\0')
		return privileged;
	if (q->spec != NULL && (first == NULL || !strlist_has(&q->settings->placeholder_init, first) ||
	    spec_bind_at(q->spec, first) == NULL))
		return "its first process is the task, not one of placeholder_init";
	return NULL;
}

bool
task_takes(const struct task_question *q, char *text, size_t size, const char **fix)
{
	const char *ignored = NULL, **to = fix != NULL ? fix : &ignored;
	const char *against;

	*to = NULL;
	if ((against = worker_against(q, to)) == NULL)
		against = container_against(q);
	if (against != NULL && q->spec != NULL)
		snprintf(text, size, "the container takes the GPU when it is created, and waits for it then: %s%s", against,
		    against == privileged ? q->privilege : "");
	else if (against != NULL)
		snprintf(text, size, "every container takes its GPU when it is created, and waits then, unseen in a Concourse "
		    "build's log: %s", against);
	else if (q->spec != NULL)
		snprintf(text, size, "the task takes the GPU itself, and waits for it in the build's log, unless the engine uses "
		    "systemd's cgroup driver");
	else
		snprintf(text, size, "a Concourse task takes its GPU itself, and waits for it in the build's log; other containers "
		    "wait when they are created, as do those of systemd's cgroup driver");
	return against == NULL;
}
