/* The threads of a process, as /proc shows them (proc(5)). */
#ifndef GPUHELPER_HOST_PROCESS_THREADS_H
#define GPUHELPER_HOST_PROCESS_THREADS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Opens a directory beneath «proc». The caller closes it. NULL on failure; *gone tells whether it does not
 * exist.
 */
DIR *thread_dir(int proc, const char *name, bool *gone);

/*
 * For a link of procfs whose target could not be looked at: true if the link itself exists, so that the
 * target does, too. A user's file system may refuse even root, or fail in any way (FUSE). «error» is the
 * errno of that scan; false if it says that this machine is short of memory or descriptors.
 */
bool link_exists(int dir, const char *link, int error);

/*
 * Repeats scans of a process that changes meanwhile: its threads end and start, and its descriptors get other
 * numbers. A scan that missed something and found nothing is repeated until the process holds still.
 */
struct rescan {
	unsigned scans, still;
	/*
	 * Fewer descriptors were listed than exist. Mostly, a waiting open(2) (of a FIFO, for example) has reserved a
	 * number; such a number does not count at the end. But a process may also keep moving a descriptor out of the
	 * way, which many scans find.
	 */
	bool fewer;
	bool never_still;		/* it never held still, and what was missed each time may be what is searched for */
};

/* To be called after a scan that found nothing. True if another scan is due. Resets *missed. */
bool rescan_due(struct rescan *a, bool *missed);

/*
 * To be called after a scan of the thread (PID or PID/task/TID). True if the thread is not ending: it then still had
 * everything during the scan.
 */
bool thread_stays(int proc, const char *thread);

/*
 * True if the open directory PID/task/TID/fd has no entries beyond the «listed» ones that were read. A descriptor that
 * moved to a number already read is missing from the list. The kernel tells how many there are since Linux 6.2.
 */
bool thread_lists_all_fds(DIR *d, off_t listed);

/* The number of threads, from the open directory PID/task. A first thread that has ended counts. */
size_t thread_count(int dir);

/*
 * Looks at one thread, «thread» (PID/task/TID). unshared_fds is false if it shares the descriptors of a thread
 * shown before.
 */
typedef bool thread_test(void *ctx, const char *thread, bool unshared_fds);

/*
 * True if the test is true of a thread of the process (PID beneath «proc»); no further thread is then shown.
 * True as well if the threads can't be seen, or if at each attempt one was gone before it was shown.
 */
bool thread_any(int proc, const char *pid, thread_test *test, void *ctx);

#endif
