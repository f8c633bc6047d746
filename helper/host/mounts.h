/* The mounts that this process sees. */
#ifndef GPUHELPER_HOST_MOUNTS_H
#define GPUHELPER_HOST_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The id of a mount, in statx(2). */
#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U	/* Linux 5.8 */
#endif

/* A line of mountinfo (proc(5)); the texts are pieces of the line, unescaped. */
struct mount {
	uint64_t id;
	char *fs;		/* "major:minor" */
	char *place;		/* what of the file system is mounted */
	char *point;		/* where */
	bool writable;		/* by the mount; the file system may be read-only all the same */
	char *options;		/* the mount's own, "rw,nodev" */
	char *rest;		/* of the line: see mount_type() */
};

/* Takes the line apart, and changes it; false for what is none. */
bool mount_line(char *line, struct mount *out);

bool mount_has_option(const struct mount *m, const char *name);
/* The kind of file system, "tmpfs"; "" where the line does not say.  To be asked once: it takes the line apart. */
const char *mount_type(struct mount *m);

/* Looks at one mount, whose texts it may change; true ends the search. */
typedef bool mount_test(void *ctx, struct mount *m);

/*
 * Shows the test the mounts that a thread (PID/task/TID beneath «proc») reaches from its
 * root directory.  Line by line, for a user can have very many, and the kernel may
 * take long over each.  1 if the test was true of one, 0 if of none; -1 with errno where
 * they can't be seen: EINVAL is a zombie's.
 */
int mounts_any(int proc, const char *task, mount_test *test, void *ctx);

/* The same for the mounts that this process reaches; the test may take its time. */
int mounts_own(mount_test *test, void *ctx);

/*
 * Our own table, as it is when it is read: once for many folders, where each line
 * of a worker's thousands is to be read once.  NULL with errno where that can't be seen,
 * which the two below take for an answer.
 */
struct mount_table;
struct mount_table *mounts_read(void);
void mounts_free(struct mount_table **t);
#define automounts __attribute__((cleanup(mounts_free)))

/*
 * True if something is mounted beneath the directory (strictly); «first» gets one
 * such place.  True as well, with "?", where that can't be seen.
 */
bool mounts_beneath(const struct mount_table *t, const char *dir, char *first, size_t size);

/*
 * The id of the mount that the descriptor (O_PATH, too) is on, without asking the
 * file system of that: one that a user mounted (fuse(4)) may let no one else in,
 * root neither, or everyone, and never answer.  False where that can't be seen.
 */
bool mount_of(int fd, uint64_t *id);

/*
 * By the table alone: is the path on the file system whose "major:minor" the first n bytes of fs are?  Of mounts one
 * over the other any counts.
 */
bool mounts_on(const struct mount_table *t, const char *path, const char *fs, size_t n);

/*
 * Which file system holds what the descriptor (O_PATH, too) was opened on by
 * «path», an absolute one without links, and as what: *fs, "major:minor", and *place,
 * a path in there.  The caller frees both, in either case; false with errno.
 */
bool mounts_place(const struct mount_table *t, int fd, const char *path, char **fs, char **place);

#endif
