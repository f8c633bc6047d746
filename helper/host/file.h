/* Opens and reads files safely beneath a directory. */
#ifndef GPUHELPER_HOST_FILE_H
#define GPUHELPER_HOST_FILE_H

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void
cleanup_close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/* «autoclose int fd = -1;»: closed when fd goes out of scope. */
#define autoclose __attribute__((cleanup(cleanup_close_fd)))

/*
 * Opens «path» beneath the directory «dirfd» (relative, no leading '/'). Follows no symbolic or magic link,
 * not even as the last component (ELOOP; do not add O_NOFOLLOW), and never leaves the directory. Adds
 * O_CLOEXEC, and unless O_PATH is given, O_NOCTTY and O_NONBLOCK. Returns a descriptor, or -1 with errno.
 */
int file_open_beneath(int dirfd, const char *path, int flags);

/*
 * "/", opened with O_PATH at the first call and kept as long as the process runs: do not close it. -1 with errno.
 * A copy of the process that closes all of its descriptors calls file_forget_root().
 */
int file_root(void);
void file_forget_root(void);

/*
 * Reads a whole file beneath dirfd, opened in that way. Returns the text, terminated, which the caller frees;
 * *len, unless len is NULL, gets its length. NULL with errno on failure: EFBIG for more than «max» bytes,
 * EINVAL for anything but a regular file (procfs and sysfs have regular files).
 */
char *file_read_at(int dirfd, const char *path, size_t max, size_t *len);

/* The same for an open descriptor, read from the file's start. */
char *file_read_fd(int fd, size_t max, size_t *len);

/* The same for a descriptor whose fstat(2) the caller has done already. */
char *file_read_stated(int fd, const struct stat *st, size_t max, size_t *len);

/*
 * Lists an open directory (fdopendir(3)). Takes over the descriptor «fd»: closedir(3) closes it, and a failure does,
 * too. NULL with errno; with fd -1, errno stays what it is.
 */
DIR *file_list(int fd);

#define FILE_LINK_MAX 32	/* bytes of a name that file_link() makes */

/*
 * Writes «/proc/self/fd/FD» to «out», and returns it. It is a path to the descriptor's file, for calls that take only a
 * path or, as fsetxattr(2), more than O_PATH. Opening the file instead may have effects, as with a GPU's node.
 */
const char *file_link(int fd, char out[FILE_LINK_MAX]);

#endif
