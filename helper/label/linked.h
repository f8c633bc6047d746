/*
 * Counts the names of files with several names during a walk through folders, to tell whether all of them
 * were met.
 */
#ifndef GPUHELPER_LABEL_LINKED_H
#define GPUHELPER_LABEL_LINKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct linked {
	uint64_t device, inode;	/* device, too: a mount may have several (subvolumes of btrfs, layers of overlayfs) */
	uint32_t names, seen;	/* number of names in all, and of names met in the folder */
	char *path;		/* the first name met */
};

/* The files with several names in one folder. */
struct linked_files {
	struct linked **v;
	size_t n;
	void *by_inode;
};

/* What is kept for all folders together. It is bounded, because a user can make very many such files. */
struct linked_kept {
	size_t files, bytes;
};

/*
 * Counts one more name, «path», of the file of *st. Returns 0, or -1 with errno: ENOMEM, or E2BIG if too many
 * are kept already.
 */
int linked_count(struct linked_files *f, struct linked_kept *kept, const struct statx *st, const char *path);

/*
 * True if all names of the file of *st were met, and the file has got no further name since. Also true for a file with
 * only one name.
 */
bool linked_is_within(const struct linked_files *f, const struct statx *st);

/* True if *l is the file of *st. */
bool linked_is(const struct linked *l, const struct statx *st);

void linked_free(struct linked_files *f);

#endif
