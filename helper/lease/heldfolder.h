/*
 * A folder of the host that a lease holds. It is identified by its file system and its path in it, as in mountinfo
 * (proc(5)), because bind mounts can make one folder visible at several paths.
 */
#ifndef GPUHELPER_LEASE_HELDFOLDER_H
#define GPUHELPER_LEASE_HELDFOLDER_H

#include "../base/lines.h"
#include "../kernel/secontext.h"

struct held_folder {
	char *path;		/* by which it was granted */
	char *fs;		/* "major:minor" */
	char *fs_path;		/* absolute, in the file system */
	enum relabel relabel;
};

/* True if both are the same folder, or one is in the other, possibly as a mount point. */
bool held_folders_overlap(const struct held_folder *a, const struct held_folder *b);

/* Reads or writes a held_folder as words, for lines_members() (lines.h). To be freed after a failed read, too. */
void held_folder_words(struct lines *s, void *folder);
void held_folder_free(struct held_folder *f);
#define autoheldfolder __attribute__((cleanup(held_folder_free)))

#endif
