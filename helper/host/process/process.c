/* See process.h. Opens files only beneath /proc, and follows no link. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../file.h"
#include "procdir.h"

/* The fields of /proc/PID/stat that are read here. proc(5) counts them from 1. */
enum stat_field {
	STAT_STATE = 3,
	STAT_PARENT = 4,
	STAT_THREADS = 20,
	STAT_START = 22,
	STAT_FIELDS
};
struct stat_line {
	char text[1024];	/* the line after the command's name, cut after the fields above */
	const char *field[STAT_FIELDS];
};

static bool
stat_read(pid_t pid, struct stat_line *out)
{
	autofree char *text = NULL;
	char name[40], *p, *save = NULL;
	unsigned i;

	snprintf(name, sizeof(name), "%d/stat", pid);
	if ((text = procdir_read(name, 4096)) == NULL)
		return false;
	errno = EINVAL;
	/*
	 * the second field, the command's name, may contain spaces and parentheses: start after the last «)»
	 */
	if ((p = strrchr(text, ')')) == NULL)
		return false;
	snprintf(out->text, sizeof(out->text), "%s", p + 1);
	for (i = STAT_STATE, p = out->text; i < STAT_FIELDS; i++, p = NULL)
		if ((out->field[i] = strtok_r(p, " ", &save)) == NULL)
			return false;
	return true;
}

static bool
stat_number(const struct stat_line *l, enum stat_field field, uint64_t *out)
{
	return text_u64(l->field[field], UINT64_MAX, out);
}

bool
process_start(pid_t pid, uint64_t *start)
{
	struct stat_line line;

	return stat_read(pid, &line) && stat_number(&line, STAT_START, start);
}

/*
 * A zombie has released all that it had, unless other threads of it still run. A process that shows no thread
 * at all has not ended: it does so for a moment while a thread other than the first is in execve(2).
 */
static bool
has_ended(const struct stat_line *l)
{
	uint64_t threads;

	return strchr("ZX", *l->field[STAT_STATE]) != NULL && stat_number(l, STAT_THREADS, &threads) && threads == 1;
}

bool
process_is_there(pid_t pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}

bool
process_lives(pid_t pid, uint64_t start)
{
	struct stat_line line;
	uint64_t now;

	if (stat_read(pid, &line) && stat_number(&line, STAT_START, &now))
		return now == start && !has_ended(&line);
	/*
	 * /proc may hide the process (hidepid), or memory may be too short to read it: ask the kernel in
	 * another way
	 */
	return process_is_there(pid);
}

bool
process_id_lives(struct process_id p)
{
	return p.pid > 0 && process_lives(p.pid, p.start);
}

pid_t
process_parent(pid_t pid)
{
	struct stat_line line;
	uint64_t parent;

	return stat_read(pid, &line) && stat_number(&line, STAT_PARENT, &parent) ? (pid_t)parent : -1;
}

bool
process_is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

bool
boot_id(char out[40])
{
	autofree char *text = procdir_read("sys/kernel/random/boot_id", 64);

	if (text == NULL)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strlen(text) > 0 && (size_t)snprintf(out, 40, "%s", text) < 40;
}
