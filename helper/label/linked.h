/* Files with several names, as a walk through folders meets them: have all of their names been met? */
#ifndef GPUHELPER_LABEL_LINKED_H
#define GPUHELPER_LABEL_LINKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct linked {
	uint64_t device, inode;	/* one mount may have several devices: subvolumes of btrfs, layers of overlayfs */
	uint32_t names, seen;	/* that it has, that were met in the folder */
	char *path;		/* the first of them */
};

/* Those of one folder. */
struct linked_files {
	struct linked **v;
	size_t n;
	void *by_inode;
};

/* What is kept of those of all folders together: so that nobody who makes many has memory without bound. */
struct linked_kept {
	size_t files, bytes;
};

/* One name more, «path», of the file of *st.  -1 with errno: ENOMEM, or E2BIG where too many are kept already. */
int linked_count(struct linked_files *f, struct linked_kept *kept, const struct statx *st, const char *path);

/* All of its names were met, and there is none more since; true for a file of one name. */
bool linked_is_within(const struct linked_files *f, const struct statx *st);

/* Is it the file of *st? */
bool linked_is(const struct linked *l, const struct statx *st);

void linked_free(struct linked_files *f);

#endif
