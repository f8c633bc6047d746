/*
 * The file system path of a directory, and those by which somebody could redirect the way to it: of the directory above
 * it and, on each mount above that, of the last directory.
 */
#ifndef GPUHELPER_LOOK_MOUNTSABOVE_H
#define GPUHELPER_LOOK_MOUNTSABOVE_H

#include "../base/text.h"
#include "../base/why.h"
#include "../host/folder/mounts.h"

/* The mount table, and the directory that the last folder was in: the next folder is often in the same one. */
struct mounts_above {
	const struct mount_table *mounts;
	char *dir;		/* NULL: no directory was noted; the other members then mean nothing */
	int fd;			/* of dir, or -1 */
	struct strlist above;	/* the file system paths of dir and of the directories above it */
};
#define MOUNTS_ABOVE(table) { .mounts = (table), .fd = -1 }
void mounts_above_free(struct mounts_above *m);
#define automountsabove __attribute__((cleanup(mounts_above_free)))

/*
 * Appends «FILE-SYSTEM PATH» of the directory, and then of those above it, to *at. mount: the directory's, or 0 if that
 * is not known. shown: what it is found for, in messages. -1 with *why.
 */
int mounts_above_find(struct mounts_above *m, const char *dir, uint64_t mount, const char *shown, struct strlist *at,
    struct why *why);

/* Refuses with errno: the mounts on the way to the path can't be found. Always -1. */
int mounts_above_refuse(const char *path, struct why *why);

#endif
