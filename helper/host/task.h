/* The threads of a process, as /proc shows them (proc(5)). */
#ifndef GPUHELPER_HOST_TASK_H
#define GPUHELPER_HOST_TASK_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A directory beneath «proc»; NULL, with *gone where it is not there (any more).  The caller closes it. */
DIR *task_dir(int proc, const char *name, bool *gone);

/*
 * A link of procfs that leads to what could not be looked at: a user's file system may
 * keep even root out, or fail in any way (FUSE), but the link itself is there to be read.
 * «error» is what looking at it said; false for one that comes of this machine, short of memory for one.
 */
bool task_link_is_kept(int dir, const char *link, int error);

/*
 * Who is looked at goes on meanwhile: his threads end and others begin, his descriptors get other numbers.  Where
 * something was gone before it could be looked at, and nothing was found, all is looked at again until it holds still.
 */
struct again {
	unsigned looks, still;
	/*
	 * Fewer descriptors were listed than there are.  That may be one that is always where it is not looked for just
	 * now, which many looks find; and mostly is a number that an open(2) which waits (of a FIFO, say) has taken
	 * already: that counts for nothing at the end.
	 */
	bool fewer;
	bool never;		/* it never held still: what was gone each time may be what is looked for */
};

/* After a look that found nothing: true if another one is due.  What «missed» says is taken back. */
bool again_look(struct again *a, bool *missed);

/* Having been looked at, the thread (PID or PID/task/TID) is not about to end: until here it had what it has. */
bool task_stays(int proc, const char *task);

/*
 * Of PID/task/TID/fd, once it was read: a descriptor that was given a number which had been
 * read already is missing.  How many there are is told since Linux 6.2.
 */
bool task_lists_all(DIR *d, off_t listed);

/* How many threads there are, by the directory PID/task; one that has ended, and is the first, among them. */
size_t task_count(int dir);

/* «task» is PID/task/TID; own_files is false where its descriptors are those of a thread that was shown before. */
typedef bool task_test(void *ctx, const char *task, bool own_files);

/*
 * True if the test is true of a thread of the process (PID beneath «proc»), after
 * which no other is shown; or where the threads can't be seen, or each time one was gone
 * before it was shown.
 */
bool task_any(int proc, const char *pid, task_test *test, void *ctx);

#endif
