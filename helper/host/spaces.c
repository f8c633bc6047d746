/* See spaces.h.  Looks at /proc alone. */
#include "spaces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "file.h"
#include "process.h"
#include "task.h"

bool
space_find(int proc, const char *pid, const char *kind, uint64_t *inode)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "%.40s/ns/%.12s", pid, kind);
	if (fstatat(proc, path, &st, 0) == -1)
		return false;
	*inode = st.st_ino;
	return true;
}

bool
space_of(pid_t pid, const char *kind, uint64_t *inode)
{
	autoclose int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[16];

	snprintf(name, sizeof(name), "%d", pid);
	return proc != -1 && space_find(proc, name, kind, inode);
}

struct search {
	int proc;
	const char *kind;
	uint64_t inode;
};

/* A zombie is in none (ENOENT). */
static bool
is_inside(void *ctx, const char *task, bool own_files)
{
	const struct search *s = ctx;
	uint64_t inode;

	(void)own_files;
	return space_find(s->proc, task, s->kind, &inode) ? inode == s->inode : !process_is_gone(errno);
}

bool
space_is_inhabited(const char *kind, uint64_t inode)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd != -1 ? fdopendir(fd) : NULL;
	struct search s = { fd, kind, inode };
	bool found = false;
	struct dirent *e;

	if (d == NULL) {
		if (fd != -1)
			close(fd);
		return true;
	}
	while (!found && (errno = 0, e = readdir(d)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			found = task_any(fd, e->d_name, is_inside, &s);
	found = found || errno != 0;
	closedir(d);
	return found;
}
