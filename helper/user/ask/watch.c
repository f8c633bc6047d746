/*
 * See watch.h. A process that asks costs processor time, and holds up the others. So it sleeps until a change, and else
 * asks only in case a GPU became free without one: a container that ended and was not deleted. The first in the queue
 * looks for that often, those behind it rarely. Asking is also what keeps its position (root/lease/queue.c).
 */
#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "../../base/times.h"
#include "../../host/clock.h"

#define CALM_MS 5		/* after a change: others may follow at once */
#define AHEAD_MS 20		/* more for each request ahead */
#define ASK_MS 5000		/* at least so often */
#define ASK_AHEAD_MS 10000	/* more for each request ahead */

int
watch_state(void)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd != -1 && (inotify_add_watch(fd, GPUHELPER_RUNDIR "/leases", IN_MOVED_TO | IN_DELETE | IN_ONLYDIR) == -1 ||
	    inotify_add_watch(fd, GPUHELPER_RUNDIR "/queue", IN_DELETE | IN_ONLYDIR) == -1)) {
		close(fd);
		return -1;
	}
	return fd;
}

enum event
watch_for(int watch, int pidfd, int64_t ms)
{
	struct pollfd p[2] = { { .fd = pidfd, .events = POLLIN }, { .fd = watch, .events = POLLIN } };
	const int64_t until = clock_ms() + ms;
	int64_t left;
	int n;

	while ((left = until - clock_ms()) > 0) {
		n = poll(p, 2, (int)left);
		if (n > 0)
			return p[0].revents != 0 ? EVENT_END : EVENT_CHANGE;
		if (n == -1 && errno != EINTR)
			break;
	}
	return EVENT_TIME;
}

static void
forget_changes(int watch)
{
	char events[4096];

	while (watch != -1 && read(watch, events, sizeof(events)) > 0)
		;
}

static int64_t
at_most(int64_t ms, int64_t limit)
{
	return ms < limit ? ms : limit;
}

void
watch_queue(int watch, int pidfd, const struct reply *reply, int64_t since)
{
	const int64_t ahead = reply->ahead, left = since + (int64_t)reply->wait * 1000 + CALM_MS - clock_ms();
	const int64_t ask = at_most(ASK_MS + ahead * ASK_AHEAD_MS, ASK_MS_MAX);

	if (watch_for(watch, pidfd, left > CALM_MS ? at_most(left, ask) : CALM_MS) == EVENT_CHANGE)
		(void)watch_for(-1, pidfd, CALM_MS + at_most(ahead * AHEAD_MS, WAKING_MS_MAX));
	forget_changes(watch);
}
