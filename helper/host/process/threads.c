/*
 * See threads.h. Reads only /proc. Assumes that the process looked at may be hostile, and change while it is
 * looked at.
 */
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../file.h"
#include "process.h"

/*
 * An ordinary program holds still at the first or second scan. A hostile one must guess the time of two scans
 * in a row.
 */
#define SCANS 12
#define STILL 2
#define FEWER_SCANS 48	/* if fewer descriptors were listed than exist, which may be a waiting open(2) */
#define EXITING 0x4	/* the kernel's PF_EXITING, in the flags of proc(5), stat */

/* Gives a thread time to finish ending: on a busy machine it would look the same at each scan. */
static void
wait_a_moment(unsigned scans)
{
	const struct timespec moment = { .tv_nsec = scans * 500000L };

	(void)nanosleep(&moment, NULL);
}

bool
rescan_due(struct rescan *a, bool *missed)
{
	const bool was_missed = *missed, was_fewer = a->fewer;

	*missed = a->fewer = false;
	a->still = was_missed ? 0 : a->still + 1;
	if (++a->scans == 1 && !was_missed && !was_fewer)
		return false;
	if (a->scans >= SCANS && a->still < STILL)
		a->never_still = true;
	if (was_missed && !a->never_still && a->scans > STILL)
		wait_a_moment(a->scans);
	return !a->never_still && (a->still < STILL || (was_fewer && a->scans < FEWER_SCANS));
}

/*
 * An ending thread releases its memory, and thereby its program (exe), before its descriptors and all else.
 */
bool
thread_stays(int proc, const char *thread)
{
	autofree char *stat = NULL;
	char name[80], text[8], *at;
	unsigned long flags;

	snprintf(name, sizeof(name), "%.60s/exe", thread);
	if (readlinkat(proc, name, text, sizeof(text)) != -1 || !process_is_gone(errno))
		return true;
	/* threads of the kernel never have an exe */
	snprintf(name, sizeof(name), "%.60s/stat", thread);
	if ((stat = file_read_at(proc, name, 1 << 16, NULL)) == NULL)
		return !process_is_gone(errno);
	at = strrchr(stat, ')');
	return at == NULL || sscanf(at, ") %*c %*d %*d %*d %*d %*d %lu", &flags) != 1 || (flags & EXITING) == 0;
}

bool
thread_lists_all_fds(DIR *d, off_t listed)
{
	struct stat st;

	return fstat(dirfd(d), &st) == -1 || st.st_size <= listed;
}

size_t
thread_count(int dir)
{
	struct stat st;

	return fstat(dir, &st) == 0 && st.st_nlink > 2 ? st.st_nlink - 2 : 0;
}

DIR *
thread_dir(int proc, const char *name, bool *gone)
{
	int fd = file_open_beneath(proc, name, O_RDONLY | O_DIRECTORY);

	*gone = fd == -1 && process_is_gone(errno);
	return file_list(fd);
}

bool
link_exists(int dir, const char *link, int error)
{
	char text[8];

	/* a shortage of this machine says nothing about the file; no file system answers with these */
	if (error == ENOMEM || error == EINTR || error == EAGAIN || error == ENFILE || error == EMFILE)
		return false;
	return readlinkat(dir, link, text, sizeof(text)) != -1;
}

/* True if both have the same descriptors, as nearly all threads of a process do (kcmp(2)). */
static bool
shares_files(const char *pid, const char *tid)
{
	return strcmp(tid, pid) != 0 &&
	    syscall(SYS_kcmp, (pid_t)strtol(pid, NULL, 10), (pid_t)strtol(tid, NULL, 10), KCMP_FILES, 0, 0) == 0;
}

static bool
any_once(int proc, const char *pid, thread_test *test, void *ctx, bool *missed)
{
	char name[40], thread[64];
	bool has = false, gone;
	size_t shown = 0;
	struct dirent *e;
	DIR *d;

	snprintf(name, sizeof(name), "%.15s/task", pid);
	if ((d = thread_dir(proc, name, &gone)) == NULL)
		return !gone;
	while (!has && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(thread, sizeof(thread), "%.15s/task/%.15s", pid, e->d_name);
		has = test(ctx, thread, !shares_files(pid, e->d_name));
		shown++;
		/* the first thread may have ended long ago, while others live */
		*missed = *missed || (!has && strcmp(e->d_name, pid) != 0 && !thread_stays(proc, thread));
	}
	has = has || (errno != 0 && !process_is_gone(errno));
	*missed = *missed || thread_count(dirfd(d)) > shown;
	closedir(d);
	return has;
}

bool
thread_any(int proc, const char *pid, thread_test *test, void *ctx)
{
	struct rescan again = { 0 };
	bool missed = false;

	do {
		if (any_once(proc, pid, test, ctx, &missed))
			return true;
	} while (rescan_due(&again, &missed));
	return again.never_still;
}
