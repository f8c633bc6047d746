/* Cgroups of containers: where they may be, and whether anyone is in them. */
#ifndef GPUHELPER_HOST_CGROUP_H
#define GPUHELPER_HOST_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "../pure/request.h"

/*
 * The directories, relative to /sys/fs/cgroup, in which a runtime started by
 * process «pid» would put this container: by linux.cgroupsPath (or the id where
 * that is empty), the way runc and crun read it (absolute, or from the cgroup
 * of the runtime itself), for cgroup v2, v1 and both, with systemd or without.
 * Only what the process's own /proc/PID/cgroup says is taken from the kernel;
 * the path is the caller's and may point at anything: it is only ever looked at.
 * -1 with *why for a path that a runtime might read otherwise than we would.
 */
int cgroup_candidates(int pid, const char *cgroups_path, const char *id, struct strlist *out, struct why *why);

/*
 * Checks that every runtime makes the same scope of systemd's of this path
 * («system.slice:docker:ID»).  -1 with *why if not.
 */
int cgroup_check_scope(const char *path, struct why *why);

/*
 * True if /sys/fs/cgroup shows process «pid» in the very cgroup of which its
 * /proc/PID/cgroup speaks, in the hierarchy that has the device rules: then the
 * paths of other processes mean there what they say.
 */
bool cgroup_is_shown(int pid);

/*
 * The directories, likewise, in which process «pid» is and nobody else but who descends
 * from it, as the kernel shows them.  *gate gets its index among them of the one that holds the
 * process to device rules (v1's «devices», else v2), or SIZE_MAX.  False: no
 * memory, or it can't be seen (errno).
 */
bool cgroup_own(int pid, struct strlist *out, size_t *gate);

/* Pids in no order, some perhaps several times. */
struct pids {
	pid_t *v;
	size_t n;
};

/* Adds the numbers of a cgroup.procs, a line each.  False: no memory, or a line is none.  The caller frees out->v. */
bool cgroup_parse_pids(const char *procs, struct pids *out);

/*
 * Who is in any of these directories or beneath them.  False where that can't be
 * seen, or not with *left directories, which is counted down.  The caller frees v.
 */
bool cgroup_pids(const struct strlist *dirs, unsigned *left, struct pids *out);

/* Is the process listed in this directory beneath the open one («.»: in that)?  Where that can't be seen: no. */
bool cgroup_lists(int root, const char *dir, pid_t pid);

/*
 * What v1's device rules of this directory are: the text of devices.list, which
 * the caller frees.  NULL: errno is ENOENT where it is none of v1's «devices».
 */
char *cgroup_device_list(const char *dir);

#define CGROUP_DIRS 4096	/* more than a container makes */

/*
 * True if a process is in any of these directories or beneath them, or where
 * that can't be seen, or not with *left directories, which is counted down.
 * Directories that are not there are empty.
 */
bool cgroup_populated(const struct strlist *dirs, unsigned *left);

#endif
