/* See spaces.h.  Looks at /proc alone. */
#include "spaces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	struct process_id process;	/* in there; pid 0: any */
};

/* The number that a process has in its own PID namespace, the last one of «NSpid:» (proc(5)). */
static bool
has_number(const struct search *s, const char *pid)
{
	autofree char *text = NULL;
	char name[40], *line, *end;
	uint64_t start;

	snprintf(name, sizeof(name), "%.15s/status", pid);
	if ((text = file_read_at(s->proc, name, 1 << 20, NULL)) == NULL)
		return !process_is_gone(errno);
	if ((line = strstr(text, "\nNSpid:")) == NULL)
		return true;
	line += strlen("\nNSpid:");
	end = line + strcspn(line, "\n");
	*end = '\0';
	while (end > line && end[-1] != '\t' && end[-1] != ' ')
		end--;
	if (strtol(end, NULL, 10) != s->process.pid)
		return false;
	return process_start((pid_t)strtol(pid, NULL, 10), &start) ? start == s->process.start : !process_is_gone(errno);
}

/* A zombie is in none (ENOENT). */
static bool
is_inside(void *ctx, const char *task, bool own_files)
{
	const struct search *s = ctx;
	uint64_t inode;

	(void)own_files;
	return space_find(s->proc, task, s->kind, &inode) ? inode == s->inode : !process_is_gone(errno);
}

static bool
search(struct search *s)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd != -1 ? fdopendir(fd) : NULL;
	bool found = false;
	struct dirent *e;

	if (d == NULL) {
		if (fd != -1)
			close(fd);
		return true;
	}
	s->proc = fd;
	while (!found && (errno = 0, e = readdir(d)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			found = task_any(fd, e->d_name, is_inside, s) && (s->process.pid == 0 || has_number(s, e->d_name));
	found = found || errno != 0;
	closedir(d);
	return found;
}

bool
space_is_inhabited(const char *kind, uint64_t inode)
{
	struct search s = { .kind = kind, .inode = inode };

	return search(&s);
}

bool
space_has_process(uint64_t pids, struct process_id p)
{
	struct search s = { .kind = "pid", .inode = pids, .process = p };

	return p.pid > 0 && search(&s);
}
