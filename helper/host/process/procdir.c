/*
 * See procdir.h. One descriptor for the whole process: call procdir_use() before anything looks at processes.
 */
#include "procdir.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../file.h"

static int used = -1;
static int kept = -1;		/* of procdir_kept() */
static bool is_procfs;

int
procdir_open(int flags)
{
	flags |= O_DIRECTORY | O_CLOEXEC;
	return used != -1 ? openat(used, ".", flags) : open("/proc", flags);
}

int
procdir_kept(void)
{
	struct statfs fs;

	if (kept == -1 && (kept = procdir_open(O_PATH)) != -1)
		is_procfs = fstatfs(kept, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
	return kept;
}

/* In procfs no directory on the way to these files is a link, so one call opens them. */
static int
open_file(const char *name)
{
	if (procdir_kept() == -1)
		return -1;
	return is_procfs ? openat(kept, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) :
	    file_open_beneath(kept, name, O_RDONLY);
}

char *
procdir_read(const char *name, size_t max)
{
	autoclose int fd = open_file(name);

	return fd != -1 ? file_read_fd(fd, max, NULL) : NULL;
}

void
procdir_forget(void)
{
	used = kept = -1;
}

/* True if both show the same PID namespace, by our own number in each. */
static bool
shows_the_same(int proc)
{
	char here[16], there[16];
	const ssize_t n = readlink("/proc/self", here, sizeof(here)), m = readlinkat(proc, "self", there, sizeof(there));

	return n > 0 && n == m && n < (ssize_t)sizeof(here) && memcmp(here, there, (size_t)n) == 0;
}

void
procdir_use(int proc)
{
	if (shows_the_same(proc)) {
		used = proc;
		if (kept != -1)
			close(kept);
		kept = -1;
	} else
		close(proc);
}
