/* See task.h. */
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "file.h"
#include "process.h"

DIR *
task_dir(int proc, const char *name, bool *gone)
{
	int fd = file_open_beneath(proc, name, O_RDONLY | O_DIRECTORY);
	DIR *d = fd != -1 ? fdopendir(fd) : NULL;

	*gone = fd == -1 && process_is_gone(errno);
	if (d == NULL && fd != -1)
		close(fd);
	return d;
}

bool
task_link_is_kept(int dir, const char *link)
{
	char text[8];

	return readlinkat(dir, link, text, sizeof(text)) != -1;
}

/* As nearly all threads do (kcmp(2)). */
static bool
shares_files(const char *pid, const char *tid)
{
	return strcmp(tid, pid) != 0 &&
	    syscall(SYS_kcmp, (pid_t)strtol(pid, NULL, 10), (pid_t)strtol(tid, NULL, 10), KCMP_FILES, 0, 0) == 0;
}

bool
task_any(int proc, const char *pid, task_test *test, void *ctx)
{
	char name[40], task[64];
	bool has = false, gone;
	struct dirent *e;
	DIR *d;

	snprintf(name, sizeof(name), "%.15s/task", pid);
	if ((d = task_dir(proc, name, &gone)) == NULL)
		return !gone;
	while (!has && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(task, sizeof(task), "%.15s/task/%.15s", pid, e->d_name);
		has = test(ctx, task, !shares_files(pid, e->d_name));
	}
	has = has || (errno != 0 && !process_is_gone(errno));
	closedir(d);
	return has;
}
