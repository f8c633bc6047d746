/* See activity.h. Reads /proc and cgroups. Where something can't be seen, answers what keeps a lease alive. */
#include "activity.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../base/cleanup.h"
#include "../host/cgroup/population.h"
#include "../host/cgroup/container.h"
#include "../host/file.h"
#include "../host/process/opennode.h"
#include "../host/process/procdir.h"
#include "../host/process/process.h"

/* True if process 1 runs the very program that pauses, and only root can have written that program. */
static bool
runs_placeholder(const struct lease *l)
{
	autoclose int proc = procdir_open(O_PATH);
	struct statx st;
	struct file_id id;
	char name[40];

	snprintf(name, sizeof(name), "%d/exe", l->container.init.pid);
	if (proc == -1 || statx(proc, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &st) == -1)
		return false;
	id = (struct file_id){ st.stx_dev_major, st.stx_dev_minor, st.stx_ino };
	return file_id_same(&id, &l->tasks.program) && st.stx_uid == 0 && (st.stx_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	    process_id_lives(l->container.init);
}

static int
by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool
has_pid(const struct pids *sorted, pid_t pid)
{
	return sorted->n > 0 && bsearch(&pid, sorted->v, sorted->n, sizeof(pid), by_pid) != NULL;
}

/*
 * Sets «alone» and «task». A process that was put into the container by an exec has a parent outside, in the
 * engine. What the task started has a parent inside: the task, or process 1 once the task has ended.
 */
static void
sort_out(const struct lease *l, const struct pids *all, struct activity *out)
{
	pid_t parent;
	size_t i;

	for (out->alone = true, i = 0; i < all->n; i++) {
		if (all->v[i] == l->container.init.pid)
			continue;
		out->alone = false;
		if ((parent = process_parent(all->v[i])) != -1 && !has_pid(all, parent))
			out->task = true;
	}
}

static void
read_processes(const struct lease *l, struct activity *out)
{
	unsigned dirs = CONTAINER_DIRS_MAX;
	struct pids all;

	if (cgroup_pids(&l->container.cgroups, &dirs, &all)) {
		if (all.n > 0)
			qsort(all.v, all.n, sizeof(*all.v), by_pid);
		if (has_pid(&all, l->container.init.pid)) {
			out->task = false;
			sort_out(l, &all, out);
		}
	}
	free(all.v);
	/* wherever its task went, the task keeps its GPUs */
	out->task = out->task || (l->tasks.task.pid != 0 && process_id_lives(l->tasks.task));
}

void
activity_read(const struct lease *l, struct budget *budget, struct activity *out)
{
	*out = (struct activity){ .task = true, .has_node = true };
	if (!(out->placeholder = runs_placeholder(l)))
		return;
	read_processes(l, out);
	if (out->alone)
		out->has_node = process_holds(l->container.init.pid, l->node, l->nodes, budget);
}
