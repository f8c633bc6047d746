/*
 * See containers.h.  Looks at /proc alone.  A process sees of its mount namespace what
 * its root directory reaches, and each thread may have one of its own.
 */
#include "containers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "home.h"
#include "process.h"
#include "task.h"

#define NAMESPACES_MAX 4096

struct search {
	int proc;
	struct home home;
	mount_test *test;
	void *ctx;
	ino_t *seen;		/* mount namespaces that were seen from their own root directories */
	size_t seens;
};

/* We are not to see it, or there is nothing to be seen any more. */
static bool
is_out_of_sight(int error)
{
	return process_is_gone(error) || error == EACCES || error == EPERM || error == EINVAL;
}

static bool
has_mount(struct search *s, const char *task)
{
	int found = mounts_any(s->proc, task, s->test, s->ctx);

	return found == 1 || (found == -1 && !is_out_of_sight(errno));
}

static bool
thread_has_mount(void *ctx, const char *task, bool own_files)
{
	struct search *s = ctx;
	char name[64], root[8];
	struct stat ns;
	size_t i;

	(void)own_files;
	snprintf(name, sizeof(name), "%.50s/ns/mnt", task);
	if (fstatat(s->proc, name, &ns, 0) == -1)
		return !is_out_of_sight(errno);
	for (i = 0; i < s->seens; i++)
		if (s->seen[i] == ns.st_ino)
			return false;
	if (has_mount(s, task))
		return true;
	/* who is chrooted sees a part of the namespace, and speaks for no more */
	snprintf(name, sizeof(name), "%.50s/root", task);
	if (readlinkat(s->proc, name, root, sizeof(root)) == 1 && root[0] == '/' && s->seens < NAMESPACES_MAX)
		s->seen[s->seens++] = ns.st_ino;
	return false;
}

static bool
search(struct search *s, DIR *d)
{
	bool found = false;
	struct dirent *e;
	int theirs;

	while (!found && (errno = 0, e = readdir(d)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9') {
			theirs = home_is_containers(&s->home, s->proc, e->d_name);
			found = (theirs == -1 && !is_out_of_sight(errno)) ||
			    (theirs == 1 && task_any(s->proc, e->d_name, thread_has_mount, s));
		}
	return found || errno != 0;
}

bool
containers_mount_any(mount_test *test, void *ctx)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = proc != -1 ? fdopendir(proc) : NULL;
	struct search s = { .proc = proc, .test = test, .ctx = ctx, .seen = calloc(NAMESPACES_MAX, sizeof(*s.seen)) };
	bool found = true;

	if (d == NULL && proc != -1)
		close(proc);
	if (d != NULL && s.seen != NULL && home_find(proc, &s.home))
		found = search(&s, d);
	if (d != NULL)
		closedir(d);
	free(s.seen);
	return found;
}
