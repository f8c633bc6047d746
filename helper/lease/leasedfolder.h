/*
 * A folder of the host that a lease holds. It is identified by its file system and its path in it, as in mountinfo
 * (proc(5)), because bind mounts can make one folder visible at several paths.
 */
#ifndef GPUHELPER_LEASE_LEASEDFOLDER_H
#define GPUHELPER_LEASE_LEASEDFOLDER_H

#include "../base/lines.h"
#include "../kernel/secontext.h"

struct leased_folder {
	char *path;		/* by which it was granted */
	char *fs;		/* "major:minor" */
	char *fs_path;		/* absolute, in the file system */
	enum relabel relabel;
};

/* True if both are the same folder, or one is in the other, possibly as a mount point. */
bool leased_folders_overlap(const struct leased_folder *a, const struct leased_folder *b);

/* Reads or writes a leased_folder as fields, for lines_members() (lines.h). To be freed after a failed read, too. */
void leased_folder_fields(struct lines *s, void *folder);
void leased_folder_free(struct leased_folder *f);
#define autoleasedfolder __attribute__((cleanup(leased_folder_free)))

#endif
