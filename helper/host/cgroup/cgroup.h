/* Cgroups of containers: where a container's cgroups may be, and which processes are in them. */
#ifndef GPUHELPER_HOST_CGROUP_CGROUP_H
#define GPUHELPER_HOST_CGROUP_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../ask/request.h"

/* Opens /sys/fs/cgroup, to which paths of cgroups are relative, with O_PATH. A descriptor, or -1 with errno. */
int cgroup_root(void);

/* True if the directory is one of cgroup v2. */
bool cgroup_is_v2(int fd);

/* The text of /proc/PID/cgroup, which the caller frees; NULL with errno. */
char *cgroup_lines(int pid);

/*
 * Adds to *out every directory, relative to /sys/fs/cgroup, in which a runtime that process «pid» started may
 * put this container. The runtime goes by linux.cgroupsPath, or by the container's id where that is empty.
 * runc and crun read the path as absolute, or relative to their own cgroup; cgroup v1, v2 and both together
 * are covered, with and without systemd. The caller chooses the path, so that it may point at anything: do no
 * more than look at these directories.
 * Returns 0, or -1 with *why for a path that a runtime may read differently from this function.
 */
int cgroup_candidates(int pid, const char *cgroups_path, const char *id, struct strlist *out, struct why *why);

/*
 * Checks that every runtime makes the same systemd scope of this path («system.slice:docker:ID»). Returns 0,
 * or -1 with *why.
 */
int cgroup_check_scope(const char *path, struct why *why);

/*
 * True if /sys/fs/cgroup shows process «pid» in the cgroup that its /proc/PID/cgroup names, in the hierarchy
 * that has the device rules. Then the paths of other processes are valid beneath /sys/fs/cgroup, too.
 */
bool cgroup_is_shown(int pid);

/*
 * Adds to *out the directories, relative to /sys/fs/cgroup, that hold process «pid» and otherwise only its
 * descendants. *devcgroup gets the index in *out of the directory whose device rules apply to the process (v1:
 * «devices», else v2), or SIZE_MAX if there is none. False, with errno, if they can't be seen or memory is
 * short.
 */
bool cgroup_own(int pid, struct strlist *out, size_t *devcgroup);

/* Process ids, unsorted, possibly with duplicates. */
struct pids {
	pid_t *v;
	size_t n;
};

/*
 * Adds the process ids of a cgroup.procs file. False if memory is short or a line is no number. The caller
 * frees out->v.
 */
bool cgroup_parse_pids(const char *procs, struct pids *out);

/*
 * Gets the processes in these directories and beneath them. *left is the number of directories that may still
 * be looked at; it is counted down. False if *left does not suffice or a directory can't be read. The caller
 * frees out->v.
 */
bool cgroup_pids(const struct strlist *dirs, unsigned *left, struct pids *out);

/*
 * True if the directory «dir» beneath the open directory «root» («.»: root itself) lists the process. False
 * if that can't be seen.
 */
bool cgroup_lists(int root, const char *dir, pid_t pid);

/*
 * The text of the directory's devices.list, cgroup v1's device rules. The caller frees it. NULL with errno on
 * failure: ENOENT where the directory has no such file.
 */
char *cgroup_device_list(const char *dir);

#define CGROUP_DIRS 4096	/* more than any container makes */

/*
 * True if a process is in one of these directories or beneath it. True as well if that can't be seen, or if
 * *left, which is counted down, does not suffice. A directory that does not exist is empty.
 */
bool cgroup_populated(const struct strlist *dirs, unsigned *left);

#endif
