/* Descriptors and small files. */
#ifndef GPUHELPER_HOST_FILE_H
#define GPUHELPER_HOST_FILE_H

#include <dirent.h>
#include <stddef.h>
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
 * Opens «path» beneath the directory «dirfd» (relative, no leading '/') with
 * openat2(2): never through a symbolic or magic link (ELOOP, for the last
 * component too: leave O_NOFOLLOW out), never out of it, always O_CLOEXEC,
 * O_NOCTTY and O_NONBLOCK.  Returns a descriptor, or -1 with errno.
 */
int file_open_beneath(int dirfd, const char *path, int flags);

/*
 * Reads the whole of a file of the kernel's or root's into memory (terminated;
 * *len may be NULL).  Returns NULL with errno: EFBIG over «max» bytes, EINVAL
 * for what is neither a regular file nor procfs/sysfs text.  The caller frees.
 */
char *file_read_at(int dirfd, const char *path, size_t max, size_t *len);

/* The same for an open descriptor, from its start. */
char *file_read_fd(int fd, size_t max, size_t *len);

/* Opens "/" with O_PATH, to open files beneath it. Returns a descriptor, or -1 with errno. */
int file_root(void);

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
