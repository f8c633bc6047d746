/* See containerprocess.h. */
#include "containerprocess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../host/cgroup/population.h"
#include "../host/process/procdir.h"
#include "../host/process/process.h"

/* True if the process has this number in one of its PID namespaces. */
static bool
has_number(pid_t pid, pid_t number)
{
	autofree char *text = NULL;
	char name[40], *p, *end;
	long n;

	snprintf(name, sizeof(name), "%d/status", pid);
	if ((text = procdir_read(name, 1 << 20)) == NULL || (p = strstr(text, "\nNSpid:")) == NULL)
		return pid == number;
	for (p += 7; (n = strtol(p, &end, 10)) > 0 && end != p; p = end)
		if (n == number)
			return true;
	return false;
}

pid_t
container_find_process(const struct lease *l, struct process_id asked)
{
	unsigned dirs = CONTAINER_DIRS_MAX, found = 0;
	struct process_id one;
	pid_t pid = 0;
	struct pids all;
	size_t i;

	if (cgroup_pids(&l->container.cgroups, &dirs, &all))
		for (i = 0; i < all.n; i++) {
			one.pid = all.v[i];
			if (one.pid == l->container.init.pid || !process_start(one.pid, &one.start) || one.start != asked.start ||
			    !has_number(one.pid, asked.pid) || pid == one.pid)
				continue;
			pid = one.pid;
			found++;
		}
	free(all.v);
	return found == 1 ? pid : 0;
}
