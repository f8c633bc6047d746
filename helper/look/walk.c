/* See walk.h. Reads only names in /proc, and /proc/PID/status of this process. */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../host/file.h"
#include "../host/process/procdir.h"

#define NUMBERS (1U << 22)	/* PID_MAX_LIMIT (linux/threads.h) */
#define ROUNDS_MAX 8		/* each for the processes that started during the one before */

static bool traced;

/*
 * True if a debugger traces this process: each system call then waits. Only root can trace a process of
 * root's.
 */
static bool
is_traced(int proc)
{
	autofree char *status = NULL;
	const char *line;
	char name[32];

	snprintf(name, sizeof(name), "%d/status", getpid());
	status = file_read_at(proc, name, 1 << 16, NULL);
	line = status != NULL ? strstr(status, "\nTracerPid:\t") : NULL;
	return line != NULL && line[strlen("\nTracerPid:\t")] != '0';
}

long
walk_waits(void)
{
	struct rusage r;

	if (traced)
		return 0;
	return getrusage(RUSAGE_SELF, &r) == 0 ? r.ru_nvcsw : -1;
}

void
walk_note_wait(struct walk *w)
{
	const long now = walk_waits();

	if (w->at != 0 && (now == -1 || now != w->waits))
		w->kept_waiting = w->at;
	w->at = 0;
	w->waits = now;
}

/* Shuffles the ids so that every order is equally likely (Fisher and Yates). */
static bool
shuffle(pid_t *v, size_t n)
{
	uint32_t pool[64];
	size_t i, j, left = 0;
	pid_t one;

	for (i = n; i > 1; i--) {
		if (left == 0) {
			if (getrandom(pool, sizeof(pool), 0) != (ssize_t)sizeof(pool))
				return false;
			left = sizeof(pool) / sizeof(pool[0]);
		}
		j = pool[--left] % i;
		one = v[i - 1];
		v[i - 1] = v[j];
		v[j] = one;
	}
	return true;
}

/* Adds a process that no round before has met. */
static bool
add_process(struct walk *w, const char *name, size_t *room)
{
	uint32_t pid;
	pid_t *v;

	if (!text_u32(name, 1, NUMBERS - 1, &pid) || (w->met[pid / 8] & 1U << pid % 8) != 0)
		return true;
	if (w->pids == *room) {
		if ((v = reallocarray(w->pid, *room + 1024, sizeof(*v))) == NULL)
			return false;
		w->pid = v;
		*room += 1024;
	}
	w->met[pid / 8] |= (unsigned char)(1U << pid % 8);
	w->pid[w->pids++] = (pid_t)pid;
	return true;
}

static bool
list_processes(struct walk *w)
{
	DIR *d = file_list(openat(w->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	size_t room = 0;
	bool good = true;

	free(w->pid);
	w->pid = NULL;
	w->pids = w->next = 0;
	if (d == NULL)
		return false;
	while (good && (errno = 0, e = readdir(d)) != NULL)
		good = add_process(w, e->d_name, &room);
	good = good && errno == 0;
	closedir(d);
	return good && shuffle(w->pid, w->pids);
}

void
walk_begin(struct walk *w)
{
	*w = (struct walk){ .proc = procdir_open(O_RDONLY), .met = calloc(NUMBERS / 8, 1) };
	w->failed = w->proc == -1 || w->met == NULL || !list_processes(w);
	traced = w->proc != -1 && is_traced(w->proc);
}

static bool
begin_round(struct walk *w)
{
	/* if processes still start after so many rounds, the walk took as long as one that was kept waiting */
	if (++w->round == ROUNDS_MAX) {
		w->full = w->kept_waiting == 0;
		w->kept_waiting = w->full ? w->pid[w->pids - 1] : w->kept_waiting;
		return false;
	}
	w->failed = !list_processes(w);
	w->waits = walk_waits();
	return !w->failed && w->pids > 0;
}

bool
walk_next(struct walk *w, char pid[16])
{
	walk_note_wait(w);
	if (w->failed || (w->next == w->pids && !begin_round(w)))
		return false;
	w->at = w->pid[w->next++];
	snprintf(pid, 16, "%d", w->at);
	return true;
}

size_t
walk_left(const struct walk *w)
{
	return w->failed ? 0 : w->pids - w->next;
}

/* The last ones, because the walk goes on with the next one. */
void
walk_give_share(struct walk *w, size_t processes)
{
	w->pids -= processes;
}

void
walk_take_share(struct walk *w, size_t processes)
{
	w->next = w->pids - processes;
}

void
walk_end(struct walk *w)
{
	if (w->proc != -1)
		close(w->proc);
	free(w->pid);
	free(w->met);
	*w = (struct walk){ .proc = -1 };
}
