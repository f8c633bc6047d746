/* See writers.h.  Looks at /proc alone. */
#include "writers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "file.h"
#include "home.h"
#include "mounts.h"

#define NAMESPACES_MAX 4096

struct search {
	int proc;
	struct home home;
	char *fs, *place;	/* of the directory (mounts.h) */
	ino_t *seen;		/* mount namespaces */
	size_t seens;
};

static bool
is_seen(struct search *s, const char *pid)
{
	char name[40];
	struct stat ns;
	size_t i;

	snprintf(name, sizeof(name), "%.15s/ns/mnt", pid);
	if (fstatat(s->proc, name, &ns, 0) == -1)
		return true;
	for (i = 0; i < s->seens; i++)
		if (s->seen[i] == ns.st_ino)
			return true;
	if (s->seens < NAMESPACES_MAX)
		s->seen[s->seens++] = ns.st_ino;
	return false;
}

static bool
mounts_above(const struct search *s, const char *pid)
{
	autofree char *text = NULL;
	char name[40], *line, *save = NULL;
	struct mount m;

	snprintf(name, sizeof(name), "%.15s/mountinfo", pid);
	if ((text = file_read_at(s->proc, name, 16 << 20, NULL)) == NULL)
		return false;
	for (line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
		if (mount_line(line, &m) && m.writable && strcmp(m.fs, s->fs) == 0 && path_is_beneath(s->place, m.place))
			return true;
	return false;
}

static bool
search(struct search *s, DIR *d)
{
	bool found = false;
	struct dirent *e;

	while (!found && (e = readdir(d)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && home_is_containers(&s->home, s->proc, e->d_name) == 1 &&
		    !is_seen(s, e->d_name))
			found = mounts_above(s, e->d_name);
	return found;
}

bool
container_writes_above(int fd, const char *path)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = proc != -1 ? fdopendir(proc) : NULL;
	struct search s = { .proc = proc, .seen = calloc(NAMESPACES_MAX, sizeof(*s.seen)) };
	bool found = true;

	if (d == NULL && proc != -1)
		close(proc);
	if (d != NULL && s.seen != NULL && home_find(proc, &s.home) && mounts_place(fd, path, &s.fs, &s.place))
		found = search(&s, d);
	if (d != NULL)
		closedir(d);
	free(s.seen);
	free(s.fs);
	free(s.place);
	return found;
}
