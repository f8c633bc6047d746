/* See process.h.  Reads /proc beneath "/" without following a link. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../pure/cleanup.h"
#include "../pure/text.h"
#include "file.h"
#include "procdir.h"

/* What is needed of /proc/PID/stat; the numbers are proc(5)'s, which counts from 1. */
enum stat_field {
	STAT_STATE = 3,
	STAT_PARENT = 4,
	STAT_THREADS = 20,
	STAT_START = 22,
	STAT_FIELDS
};
struct stat_line {
	char text[1024];	/* of the line, as much as holds these fields */
	const char *field[STAT_FIELDS];
};

static bool
stat_read(pid_t pid, struct stat_line *out)
{
	autoclose int proc = procdir_open(O_PATH);
	autofree char *text = NULL;
	char name[40], *p, *save = NULL;
	unsigned i;

	snprintf(name, sizeof(name), "%d/stat", pid);
	if (proc == -1 || (text = file_read_at(proc, name, 4096, NULL)) == NULL)
		return false;
	errno = EINVAL;
	/* the second field is the command's name, which may hold spaces and parentheses: begin after the last one */
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
 * A zombie has let go of all that it had. One whose other threads still run has not; nor has one that shows none at all
 * for a moment, while another thread than the first executes a program.
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
	/* it may hide in /proc (hidepid), or we may lack memory to look: the kernel knows */
	return process_is_there(pid);
}

bool
process_id_lives(struct process_id p)
{
	return p.pid > 0 && process_lives(p.pid, p.start);
}

bool
process_real_uid(int proc, const char *pid, uint32_t *out)
{
	autofree char *status = NULL;
	char name[40], *line;
	unsigned uid;

	snprintf(name, sizeof(name), "%.15s/status", pid);
	errno = 0;
	if ((status = file_read_at(proc, name, 1 << 20, NULL)) == NULL ||
	    (line = strstr(status, "\nUid:")) == NULL || sscanf(line, "\nUid: %u", &uid) != 1)
		return false;
	*out = uid;
	return true;
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
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;

	if (root == -1 || (text = file_read_at(root, "proc/sys/kernel/random/boot_id", 64, NULL)) == NULL)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strlen(text) > 0 && (size_t)snprintf(out, 40, "%s", text) < 40;
}
