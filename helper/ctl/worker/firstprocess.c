/* See firstprocess.h.  Runs with its caller's rights, and only reads. */
#include "firstprocess.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/process/procdir.h"
#include "../../host/process/process.h"

const char *
status_after(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at != NULL ? at + strlen(key) : NULL;
}

bool
status_is_first(const char *status)
{
	const char *at = status_after(status, "\nNSpid:");
	unsigned long number = 0;
	unsigned numbers = 0;
	char *end;

	for (; at != NULL && *at == '\t'; at = end, numbers++)
		number = strtoul(at + 1, &end, 10);
	return numbers > 1 && number == 1;
}

static bool
is_first_of(const char *pid, pid_t parent)
{
	char file[40];
	autofree char *status = NULL;

	if (process_parent((pid_t)strtol(pid, NULL, 10)) != parent)
		return false;
	snprintf(file, sizeof(file), "%.15s/status", pid);
	return (status = procdir_read(file, 65536)) != NULL && status_is_first(status);
}

/* Asks every process: a runtime with threads has children of each thread, which no one file lists. */
bool
first_process_of(pid_t parent, struct process_id *out)
{
	DIR *all = file_list(procdir_open(O_RDONLY));
	const struct dirent *e;
	unsigned found = 0;

	while (all != NULL && (e = readdir(all)) != NULL)
		if (*e->d_name >= '1' && *e->d_name <= '9' && is_first_of(e->d_name, parent)) {
			out->pid = (pid_t)strtol(e->d_name, NULL, 10);
			found++;
		}
	if (all != NULL)
		closedir(all);
	return found == 1 && process_start(out->pid, &out->start) && process_parent(out->pid) == parent;
}
