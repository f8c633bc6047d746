/*
 * See procdir.h. One descriptor for the whole process: call procdir_use() before anything looks at processes.
 */
#include "procdir.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static int used = -1;

int
procdir_open(int flags)
{
	flags |= O_DIRECTORY | O_CLOEXEC;
	return used != -1 ? openat(used, ".", flags) : open("/proc", flags);
}

/* True if both show the same PID namespace, by our own number in each. */
static bool
shows_the_same(int proc)
{
	char here[16], there[16];
	const ssize_t n = readlink("/proc/self", here, sizeof(here)), m = readlinkat(proc, "self", there, sizeof(there));

	return n > 0 && n == m && n < (ssize_t)sizeof(here) && memcmp(here, there, (size_t)n) == 0;
}

void
procdir_use(int proc)
{
	if (shows_the_same(proc))
		used = proc;
	else
		close(proc);
}
