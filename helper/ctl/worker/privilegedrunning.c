/* See privilegedrunning.h.  Runs with its caller's rights, and only reads. */
#include "privilegedrunning.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/quoted.h"
#include "../../host/file.h"
#include "../../host/process/namespaces.h"
#include "../../host/process/procdir.h"
#include "../../user/spec/speccapability.h"
#include "firstprocess.h"

#define SHOWN 3

/* The container's name: the last part of the first cgroup that is not the root. */
static void
name_of(int proc, const char *pid, char *name, size_t size)
{
	char file[40];
	autofree char *text = NULL;
	char *line, *save = NULL, *path;

	snprintf(name, size, "without a cgroup");
	snprintf(file, sizeof(file), "%.15s/cgroup", pid);
	if ((text = file_read_at(proc, file, 65536, NULL)) == NULL)
		return;
	for (line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
		if ((path = strchr(line, '/')) != NULL && path[1] != '\0') {
			snprintf(name, size, "%s", quoted(path_last(path)));
			return;
		}
}

/* Adds the process if it is a privileged container's first. */
static bool
look_at(int proc, const char *pid, uint64_t users, struct strlist *out)
{
	char file[40], name[80], line[160];
	autofree char *status = NULL;
	const char *set, *capability;
	uint64_t its;

	snprintf(file, sizeof(file), "%.15s/status", pid);
	if ((status = file_read_at(proc, file, 65536, NULL)) == NULL || !status_is_first(status) ||
	    !ns_find(proc, pid, "user", &its) || its != users || (set = status_after(status, "\nCapBnd:")) == NULL ||
	    (capability = capability_strong_in(strtoull(set, NULL, 16))) == NULL)
		return true;
	name_of(proc, pid, name, sizeof(name));
	snprintf(line, sizeof(line), "%s (PID %.15s, %.40s)", name, pid, capability);
	return strlist_add(out, line, SIZE_MAX);
}

bool
privileged_running(struct strlist *out)
{
	autoclose int proc = procdir_open(O_PATH);
	const struct dirent *e;
	bool good = true;
	uint64_t users;
	DIR *all;

	if (proc == -1 || !ns_find(proc, "self", "user", &users) || (all = file_list(procdir_open(O_RDONLY))) == NULL)
		return false;
	while (good && (e = readdir(all)) != NULL)
		if (*e->d_name >= '1' && *e->d_name <= '9')
			good = look_at(proc, e->d_name, users, out);
	closedir(all);
	return good;
}

void
privileged_running_text(const struct strlist *l, char *text, size_t size)
{
	autobuf struct buf b = { 0 };
	size_t i;

	for (i = 0; i < l->n && i < SHOWN; i++)
		buf_printf(&b, "%s%s", i > 0 ? ", " : "", l->v[i]);
	if (l->n > SHOWN)
		buf_printf(&b, " and %zu more", l->n - SHOWN);
	snprintf(text, size, "%s", b.failed || b.p == NULL ? "" : b.p);
}
