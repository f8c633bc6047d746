/* See tasktakes.h. Looks at the settings and the waiter; the rest is known only when a container is created. */
#include "tasktakes.h"

#include <stdio.h>

#include "../user/waiterfile.h"

/* NULL: nothing is in the way. */
static const char *
reason_against(bool enforced, const struct settings *s)
{
	if (!enforced)
		return "no device cgroup limits this user's containers";
	if (s->placeholder_init.n == 0)
		return "gpuhelper.conf sets placeholder_init = [ ]";
	if (s->idle == IDLE_KEEP)
		return "gpuhelper.conf sets idle = \"keep\"";
	if (s->driver_files == DRIVER_FILES_VENDOR_RUNTIME)
		return "gpuhelper.conf sets driver_files = \"vendor-runtime\"";
	if (!waiter_is_usable())
		return WAITER_PROGRAM " can't be executed from memory (is it installed? is vm.memfd_noexec 2?)";
	return NULL;
}

bool
task_takes(bool enforced, const struct settings *s, char *text, size_t size)
{
	const char *against = reason_against(enforced, s);

	if (against == NULL)
		snprintf(text, size, "a Concourse task takes its GPU itself, and waits for it in the build's log; other containers "
		    "wait when they are created, as do those of systemd's cgroup driver");
	else
		snprintf(text, size, "every container takes its GPU when it is created, and waits then, unseen in a Concourse "
		    "build's log: %s", against);
	return against == NULL;
}
