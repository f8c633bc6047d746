/*
 * gpuhelper-look: sees for the helper what takes capabilities to see: other users' processes, what they have open, who
 * keeps a lease, and where paths lead. The helper starts it as a user of its own (root/child/looker.h), asks one
 * question at a time over one channel, and ends it. Its answers are numbers (ask/lookquery.h) and paths
 * (ask/pathsquery.h), never bytes of a file.
 *
 * There are two processes: a watcher, and a child of it that scans. If a scan takes too long, a signal ends the child;
 * the watcher reports that, and starts another child for the next question. Where there are many processes, the child
 * has copies of itself look at a part of them (copies.h). Of the helper's descriptors all have only the channel, a
 * process file system of their own, and the helper's slot, whose lock they share. They can open files only for
 * reading.
 * Nobody but root may be able to stop a scan: a caller who could do so could meanwhile pass a node from a process that
 * was not looked at yet to one that was. So the user of this program must have no other process, and may be nobody's
 * subordinate user; the filter keeps the scans of different requests from signalling each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/bytes.h"
#include "../base/cleanup.h"
#include "../base/times.h"
#include "../host/clock.h"
#include "../host/file.h"
#include "../host/own/frame.h"
#include "../host/process/procdir.h"
#include "../root/self/capability.h"
#include "../root/self/confine.h"
#include "../root/self/spawn.h"
#include "../root/self/timer.h"
#include "activity.h"
#include "containerprocess.h"
#include "copies.h"
#include "leakedmounts.h"
#include "leaseinuse.h"
#include "lookquestion.h"
#include "nodeopeners.h"
#include "paths.h"
#include "rootlessuse.h"

#define CHANNEL SPAWN_CHANNEL
#define MEMORY_MAX (512UL << 20)
#define LATE_MS 50	/* for a child to end after its time is over */
#define ANSWER_MS 1000	/* for the helper to take an answer */
#define IDLE_MS (RUN_MAX_OF_ROOTS_S * 1000)

/*
 * Shared by both processes: the process that the child is looking at (0: none in particular); when the scan began and
 * when it must end (clock_ms(); 0: it is not looking); and the milliseconds that the child had run or waited for a
 * processor when the scan began.
 */
struct progress {
	volatile pid_t pid;
	volatile int64_t since, until, ran;
};
static struct progress *progress;

/* To see which nodes and mounts a process has, and its namespaces; to follow the links of /proc/PID/map_files. */
static const int kept[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE };

static const struct confinement confinement = { "gpuhelper-look", MEMORY_MAX, kept, sizeof(kept) / sizeof(kept[0]),
	FILTER_LOOKER, false };

/* opener[] has an element for each of the lease's nodes. */
static void
look_by_kind(const struct look_query *a, const struct lease *l, struct process_snapshot *seen, struct look_answer *out,
    pid_t *opener)
{
	struct scan_limits limits = { .budget = { a->left, a->until }, .dirs = a->dirs };
	struct activity activity;

	*out = look_answer_begin(a->nonce);
	if (a->anew != 0)
		process_snapshot_free(seen);
	switch (a->kind) {
	case LOOK_BOOT:
	case LOOK_IN_USE:
		out->of_another_boot = lease_is_of_another_boot(seen, l) ? 1 : 0;
		out->yes = a->kind == LOOK_IN_USE && out->of_another_boot == 0 && lease_in_use(seen, l, &limits) ? 1 :
		    0;
		break;
	case LOOK_ROOTLESS_USE:
		out->yes = rootless_lease_in_use(l, &limits.budget) ? 1 : 0;
		break;
	case LOOK_LEAKED:
		out->yes = mount_has_leaked(l->lookup, l->lookups, &limits.budget) ? 1 : 0;
		break;
	case LOOK_ACTIVITY:
		activity_read(l, &limits.budget, &activity);
		out->seen = activity_pack(&activity);
		break;
	case LOOK_WAITER:
		out->seen = (uint32_t)container_find_process(l, l->tasks.task);
		break;
	case LOOK_OPENERS:
		openers_find(l->node, l->nodes, opener, &progress->pid, &out->incomplete);
		break;
	}
	out->left = limits.budget.left;
	out->until = limits.budget.until;
	out->dirs = limits.dirs;
}

/* Sends the answer, and what follows it. */
static bool
say(const struct look_answer *answer, const void *more, size_t n)
{
	autobuf struct buf b = { 0 };
	struct why ignored;

	bytes_put(&b, answer, sizeof(*answer));
	bytes_put(&b, more, n);
	return !b.failed && frame_write(CHANNEL, b.p, b.len, LOOK_PATHS_MAX, ANSWER_MS, &ignored) == 0;
}

static int
open_schedstat(pid_t pid)
{
	autoclose int proc = procdir_open(O_PATH);
	char name[40];

	snprintf(name, sizeof(name), "%d/schedstat", pid);
	return proc != -1 ? openat(proc, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
}

/*
 * The milliseconds that a process has run or waited for a processor (schedstat in proc(5)). -1 if the kernel does not
 * count them.
 */
static int64_t
ran_by(int schedstat)
{
	unsigned long long run, stood;
	char text[64];
	ssize_t n = pread(schedstat, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	return sscanf(text, "%llu %llu", &run, &stood) == 2 ? (int64_t)((run + stood) / 1000000) : -1;
}

/*
 * The milliseconds since the scan began in which the child was blocked. If the kernel does not count its running time,
 * all of them.
 */
static uint32_t
blocked_until_now(int64_t ran)
{
	const int64_t all = clock_ms() - progress->since;
	const int64_t blocked = ran == -1 || progress->ran == -1 ? all : all - (ran - progress->ran);

	return blocked > 0 ? (uint32_t)blocked : 0;
}

static void
begin_look(uint32_t ms, int schedstat)
{
	progress->pid = 0;
	progress->ran = ran_by(schedstat);
	progress->since = clock_ms();
	progress->until = progress->since + ms;
	end_after((int)ms);
}

static void
end_look(int schedstat, struct look_answer *answer)
{
	end_after(0);
	progress->until = 0;
	answer->blocked = blocked_until_now(ran_by(schedstat));
}

/* The question was of another version: the empty head shows that this program is, too. */
static bool
say_not_understood(void)
{
	(void)say(&(struct look_answer){ .nonce = 0 }, NULL, 0);
	return false;
}

static bool
answer_about_lease(const char *bytes, size_t len, struct process_snapshot *seen, int schedstat)
{
	autolease struct lease l = { .id = NULL };
	autofree pid_t *opener = NULL;
	struct look_answer answer;
	struct look_query a;

	if (!look_query_unpack(bytes, len, &a, &l))
		return say_not_understood();
	if ((opener = calloc(l.nodes + 1, sizeof(*opener))) == NULL)
		return false;
	begin_look(a.timeout, schedstat);
	look_by_kind(&a, &l, seen, &answer, opener);
	end_look(schedstat, &answer);
	return say(&answer, opener, a.kind == LOOK_OPENERS ? l.nodes * sizeof(*opener) : 0);
}

static bool
answer_about_paths(const char *bytes, size_t len, int schedstat)
{
	autopathsquery struct paths_query asked = { .folders = 0 };
	autopathsanswer struct paths_answer found = { .n = 0 };
	autobuf struct buf text = { 0 };
	struct lines t = { .out = &text };
	struct look_answer answer;
	struct look_query a;

	if (!look_paths_unpack(bytes, len, &a, &asked))
		return say_not_understood();
	answer = look_answer_begin(a.nonce);
	begin_look(a.timeout, schedstat);
	paths_find(&asked, &found);
	end_look(schedstat, &answer);
	paths_answer_lines(&t, &found);
	return lines_finish(&t) && say(&answer, text.p, text.len);
}

/* Answers one question. False: none can follow. */
static bool
answer_one(struct process_snapshot *seen, int schedstat)
{
	struct why ignored;
	size_t len;
	autofree char *bytes = frame_read(CHANNEL, LOOK_QUERY_MAX, IDLE_MS, &len, &ignored);

	if (bytes == NULL)
		return false;
	return look_query_is_of_paths(bytes, len) ? answer_about_paths(bytes, len, schedstat) :
	    answer_about_lease(bytes, len, seen, schedstat);
}

static _Noreturn void
answer_all(pid_t parent)
{
	struct process_snapshot seen = { 0 };
	int schedstat;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(WHY_BUG);
	schedstat = open_schedstat(getpid());
	while (answer_one(&seen, schedstat))
		continue;
	_exit(0);
}

/* Waits for a question. False if the other end is closed, or no question came in IDLE_MS. */
static bool
await_question(void)
{
	struct pollfd p = { .fd = CHANNEL, .events = POLLIN };
	char c;

	return poll(&p, 1, IDLE_MS) == 1 && recv(CHANNEL, &c, 1, MSG_PEEK) == 1;
}

/* Reports that the child was ended by a signal, or can't be ended. */
static bool
say_unanswered(bool kept_waiting, uint32_t blocked)
{
	struct look_answer unanswered = look_answer_begin(0);

	unanswered.blocked = blocked;
	if (kept_waiting && progress->pid != 0)
		unanswered.incomplete = (struct look_incomplete){ INCOMPLETE_ENDED, progress->pid };
	progress->pid = 0;
	progress->until = 0;
	return say(&unanswered, NULL, 0);
}

enum end {
	END_ITS_OWN,
	END_BY_SIGNAL,
	END_LATE,	/* its time is over: its timer ended it, or it still runs */
};

/* Waits for the child's end. Not even SIGKILL ends a process that waits for certain kernel locks: it is left behind. */
static enum end
await_end(pid_t pid, const sigset_t *child_ends, uint32_t *blocked)
{
	const struct timespec moment = { .tv_nsec = LATE_MS * 1000000L };
	autoclose int schedstat = open_schedstat(pid);
	int status = 0;
	pid_t ended;

	*blocked = 0;
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		if (progress->until != 0)
			*blocked = blocked_until_now(ran_by(schedstat));
		if (progress->until != 0 && clock_ms() > progress->until + LATE_MS)
			return END_LATE;
		(void)sigtimedwait(child_ends, NULL, &moment);
	}
	if (ended != pid || WIFEXITED(status))
		return END_ITS_OWN;
	return WTERMSIG(status) == SIGALRM ? END_LATE : END_BY_SIGNAL;
}

/*
 * Starts a process for each question that the last one did not survive. eager: starts one at once. If not, only for a
 * question, because the helper moves only this process out of its caller's cgroup (owncgroup.c).
 */
static void
watch(bool eager)
{
	const pid_t us = getpid();
	sigset_t child_ends;
	uint32_t blocked;
	enum end end;
	pid_t pid;

	sigemptyset(&child_ends);
	sigaddset(&child_ends, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child_ends, NULL);
	for (; eager || await_question(); eager = false) {
		if ((pid = fork()) == 0)
			answer_all(us);
		if (pid == -1 || (end = await_end(pid, &child_ends, &blocked)) == END_ITS_OWN ||
		    !say_unanswered(end == END_LATE, blocked))
			break;
	}
}

int
main(int argc, char **argv)
{
	int status;
	char how;

	/* before the filter, which allows no shared mapping */
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	copies_prepare();
	if ((status = confined_start(argc, argv, &confinement)) != -1)
		return status;
	if (progress == MAP_FAILED)
		return WHY_BUG;
	procdir_use(SPAWN_PROC);
	if (recv(CHANNEL, &how, 1, 0) == 1)
		watch(how == LOOK_EARLY);
	return 0;
}
