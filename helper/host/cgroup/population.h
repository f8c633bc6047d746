/* Which processes are in cgroups and beneath them. */
#ifndef GPUHELPER_HOST_CGROUP_POPULATION_H
#define GPUHELPER_HOST_CGROUP_POPULATION_H

#include "../process/scanbudget.h"
#include "cgroup.h"

/*
 * Gets the processes in these directories and beneath them. *left is the number of directories that may still
 * be looked at; it is counted down. False if *left does not suffice or a directory can't be read. The caller
 * frees out->v.
 */
bool cgroup_pids(const struct strlist *dirs, unsigned *left, struct pids *out);

#define CONTAINER_DIRS_MAX 256	/* directories that a container may have made beneath its cgroup */

/*
 * True if a process is in one of these directories or beneath it. True as well if that can't be seen, or if
 * *left, which is counted down, does not suffice. A directory that does not exist is empty.
 */
bool cgroup_populated(const struct strlist *dirs, unsigned *left);

#endif
