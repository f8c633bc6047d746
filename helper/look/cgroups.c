/* See cgroups.h. */
#include "cgroups.h"

#include "../host/cgroup/vacant.h"

/* A rootful runtime makes the cgroups by which the lease follows the container: they must be visible from here. */
static int
check_visible(const struct cgroups_query *a, struct why *why)
{
	const pid_t pid = (pid_t)a->asker;

	if (a->by_systemd && a->path == NULL)
		return refuse(why, WHY_DATA, "config.json has no linux.cgroupsPath: with systemd's cgroups, gpuhelper can't "
		    "follow the container without it");
	if (a->by_systemd && cgroup_check_scope(a->path, why) == -1)
		return -1;
	return cgroup_is_shown(pid) ? 0 : refuse(why, WHY_IO, "/proc/%d/cgroup names a cgroup that /sys/fs/cgroup does not "
	    "have: in a cgroup namespace of its own, the engine has to mount /sys/fs/cgroup anew", pid);
}

int
cgroups_find(const struct cgroups_query *asked, struct paths_answer *out)
{
	const char *path = asked->path != NULL ? asked->path : "";
	const char *id = asked->id != NULL ? asked->id : "";

	if (asked->rootful && check_visible(asked, &out->why) == -1)
		return -1;
	return cgroup_vacant_candidates((pid_t)asked->asker, path, id, &out->cgroup, &out->why);
}
