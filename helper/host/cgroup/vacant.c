/* See vacant.h. The caller chooses the path: this looks at the directories, and must never write. */
#include "vacant.h"

#include "population.h"

int
cgroup_vacant_candidates(int pid, const char *cgroups_path, const char *id, struct strlist *out, struct why *why)
{
	unsigned dirs = CGROUP_DIRS;

	if (cgroup_candidates(pid, cgroups_path, id, out, why) == -1)
		return -1;
	return !cgroup_populated(out, &dirs) ? 0 : refuse(why, WHY_DATA, "the container's cgroup %s has processes in it "
	    "already, or can't be looked at: give it one of its own", *cgroups_path != '\0' ? cgroups_path : id);
}
