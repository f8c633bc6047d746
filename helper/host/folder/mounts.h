/* The mounts of a process, read from mountinfo (proc(5)), and questions about them. */
#ifndef GPUHELPER_HOST_FOLDER_MOUNTS_H
#define GPUHELPER_HOST_FOLDER_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* statx(2) tells the id of a mount with this flag; older headers lack it. */
#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U	/* Linux 5.8 */
#endif

/* One line of mountinfo. The texts are parts of that line, unescaped. */
struct mount {
	uint64_t id, parent;	/* the kernel uses numbers again, so a later mount can have a lower one */
	char *fs;		/* "major:minor" */
	char *root;		/* the directory of that file system that is mounted */
	char *point;		/* the path that it is mounted on */
	bool writable;		/* by the mount's options; the file system itself may still be read-only */
	char *options;		/* of the mount, not of the file system: "rw,nodev" */
	char *rest;		/* of the line, for mount_type() */
};

/* Splits a line of mountinfo in place, so that *out points into it. False if it is no such line. */
bool mount_line(char *line, struct mount *out);

bool mount_has_option(const struct mount *m, const char *name);
/*
 * The type of the file system, as "tmpfs", or "" if the line does not say. Splits m->rest: call it once for
 * each mount.
 */
const char *mount_type(struct mount *m);

/* Looks at one mount, and may change its texts; true ends the search. */
typedef bool mount_test(void *ctx, struct mount *m);

/*
 * Shows «test» the mounts that a thread (PID/task/TID beneath the directory «proc») reaches from its root
 * directory. Reads line by line, because a user can have very many mounts, and the kernel may take long for
 * each. Returns 1 if the test was true of one, 0 if of none, and -1 with errno if they can't be read; EINVAL
 * says that the thread is a zombie.
 */
int mounts_any(int proc, const char *thread, mount_test *test, void *ctx);

/*
 * The same for the mounts of this process. The test may take its time, because the whole table is read first.
 */
int mounts_own(mount_test *test, void *ctx);

/*
 * Reads our own mountinfo into a table, so that a worker's thousands of lines are read once for many folders.
 * The caller frees it with mounts_free(). NULL with errno if it can't be read; mounts_beneath() and
 * mounts_fs_path() accept that NULL.
 */
struct mount_table;
struct mount_table *mounts_read(void);
void mounts_free(struct mount_table **t);
#define automounts __attribute__((cleanup(mounts_free)))

/*
 * True if something is mounted strictly beneath the directory; «first» gets the path of one such mount. True,
 * with "?", if t is NULL.
 */
bool mounts_beneath(const struct mount_table *t, const char *dir, char *first, size_t size);

/*
 * Gets the id of the mount that the descriptor (O_PATH is enough) is on, without asking that file system. A
 * file system that a user mounted (fuse(4)) may refuse even root, or never answer. False if it can't be read.
 */
bool mount_of(int fd, uint64_t *id);
/*
 * The same for the directory «name» in «dir», by one call. False also if «name» is no directory, or if that call does
 * not tell the mount (Linux before 5.8).
 */
bool mount_of_dir(int dir, const char *name, uint64_t *id);

/*
 * True if, by the table alone, the path is on the file system whose "major:minor" are the first n bytes of
 * fs. Where several mounts are on top of one another, one of them suffices. t must not be NULL.
 */
bool mounts_on(const struct mount_table *t, const char *path, const char *fs, size_t n);

/*
 * True if the mount's file system may never answer, because a user's program serves it (fuse(4)) or something is yet
 * to be mounted there (autofs(5)), and if its line does not say its type. Splits nothing, as mount_type() does.
 */
bool mount_is_unsure(const struct mount *m);

/*
 * A mount point at or above the path where the mount on top is such a one; NULL if there is none. The text is the
 * table's. With t NULL: "?".
 */
const char *mounts_unsure(const struct mount_table *t, const char *path);

/*
 * Gets *fs ("major:minor"), the file system of the file behind the descriptor (O_PATH is enough), and *fs_path,
 * the path of the file in that file system. «path» is the absolute path, without links, by which the file was
 * opened. The caller frees *fs and *fs_path, after a failure too. False with errno; ESTALE says that table and
 * path no longer fit.
 */
bool mounts_fs_path(const struct mount_table *t, int fd, const char *path, char **fs, char **fs_path);

/* The same for a file on this mount (mount_of()). */
bool mounts_fs_path_on(const struct mount_table *t, uint64_t mount, const char *path, char **fs, char **fs_path);

#endif
