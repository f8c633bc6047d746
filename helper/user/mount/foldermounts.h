/*
 * Checks that the runtime mounted the granted folders and no others in their place. The runtime resolves their
 * paths after root has checked them. A user who can write on the way, or who passed on a descriptor, may redirect a
 * path in between. The container's mount table shows the result.
 */
#ifndef GPUHELPER_USER_MOUNT_FOLDERMOUNTS_H
#define GPUHELPER_USER_MOUNT_FOLDERMOUNTS_H

#include <sys/types.h>

#include "../../lease/edits.h"

/*
 * For each granted folder, its target in the container and the file system path that must be mounted there (lookup.h).
 */
struct folder_mounts {
	struct strlist target, fs_path;
};
void folder_mounts_free(struct folder_mounts *p);

/* Copies the folders of the edits to *out, which the caller frees. Returns 0, or -1 with *why. */
int folder_mounts_of(const struct edits *e, struct folder_mounts *out, struct why *why);

/*
 * Checks that each file system path is mounted at its target in the mount namespace of «pid», and nothing else. Returns
 * 0, or
 * -1 with *why: WHY_DENIED if another folder is mounted at a target, WHY_IO if that can't be seen. Everybody may
 * read a process's mount table, but following a target through links needs the right to trace the process
 * (ptrace(2)).
 */
int folder_mounts_check(pid_t pid, const struct folder_mounts *p, struct why *why);

#endif
