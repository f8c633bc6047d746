/* See process.h.  Reads /proc beneath "/" without following a link. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pure/cleanup.h"
#include "../pure/text.h"
#include "file.h"

/* Field «number» of /proc/PID/stat, counted from 1 as proc(5) does; from 3 on. */
static bool
stat_field(pid_t pid, unsigned number, uint64_t *out)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;
	char name[40], *p, *save = NULL, *field;
	unsigned i;

	snprintf(name, sizeof(name), "proc/%d/stat", pid);
	if (root == -1 || (text = file_read_at(root, name, 4096, NULL)) == NULL)
		return false;
	errno = EINVAL;
	/* the second field is the command's name, which may hold spaces and parentheses: begin after the last one */
	if ((p = strrchr(text, ')')) == NULL)
		return false;
	for (i = 3, field = strtok_r(p + 1, " ", &save); field != NULL; field = strtok_r(NULL, " ", &save), i++)
		if (i == number)
			return text_u64(field, UINT64_MAX, out);
	return false;
}

bool
process_start(pid_t pid, uint64_t *start)
{
	return stat_field(pid, 22, start);
}

bool
process_lives(pid_t pid, uint64_t start)
{
	uint64_t now;

	if (process_start(pid, &now))
		return now == start;
	/* it may hide in /proc (hidepid), or we may lack memory to look: the kernel knows */
	return kill(pid, 0) == 0 || errno != ESRCH;
}

bool
process_id_lives(struct process_id p)
{
	return p.pid > 0 && process_lives(p.pid, p.start);
}

pid_t
process_parent(pid_t pid)
{
	uint64_t parent;

	return stat_field(pid, 4, &parent) ? (pid_t)parent : -1;
}

bool
process_is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

bool
boot_id(char out[40])
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;

	if (root == -1 || (text = file_read_at(root, "proc/sys/kernel/random/boot_id", 64, NULL)) == NULL)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strlen(text) > 0 && (size_t)snprintf(out, 40, "%s", text) < 40;
}
