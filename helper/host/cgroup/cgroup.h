/* Cgroups of containers, as the kernel shows them. */
#ifndef GPUHELPER_HOST_CGROUP_CGROUP_H
#define GPUHELPER_HOST_CGROUP_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../base/text.h"
#include "../../kernel/cgroupline.h"

/* Opens /sys/fs/cgroup, to which paths of cgroups are relative, with O_PATH. A descriptor, or -1 with errno. */
int cgroup_root(void);

/*
 * True if the directory is a cgroup's, of v1 or v2. Where a hierarchy is not mounted, its directory may hold ordinary
 * files of the same names.
 */
bool cgroup_is_one(int fd);
/* True if the directory is one of cgroup v2. */
bool cgroup_is_v2(int fd);

/* The text of /proc/PID/cgroup, which the caller frees; NULL with errno. */
char *cgroup_lines(int pid);

/*
 * True for the hierarchy with the device rules, of those beneath «root» (cgroup_root()). Runtimes tell v1 from v2 in
 * the same way, by the file system at the top.
 */
bool cgroup_has_rules(int root, const struct cgroup_line *line);

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
 * True if the directory «dir» beneath the open directory «root» («.»: root itself) lists the process. False
 * if that can't be seen.
 */
bool cgroup_lists(int root, const char *dir, pid_t pid);

/*
 * The text of the directory's devices.list, cgroup v1's device rules. The caller frees it. NULL with errno on
 * failure: ENOENT where the directory has no such file.
 */
char *cgroup_device_list(const char *dir);

#endif
