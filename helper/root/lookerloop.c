/*
 * See lookerloop.h. There are two processes: a watcher, and a child of it that looks. If a look takes too long, a
 * signal ends the child; the watcher reports that, and starts another child for the next question. Of the helper's
 * descriptors both have only the channel and its place, whose lock they share. They can open files only for reading.
 * All their uids are root's: a caller who could stop a look could meanwhile pass a node from a process that was not
 * looked at yet to one that was.
 */
#include "lookerloop.h"

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

#include "../host/clock.h"
#include "../host/container.h"
#include "../host/file.h"
#include "../host/frame.h"
#include "../host/holders.h"
#include "../host/leaselife.h"
#include "../host/passed.h"
#include "../host/procdir.h"
#include "../pure/cleanup.h"
#include "../pure/lookask.h"
#include "capability.h"
#include "filter.h"
#include "ownproc.h"
#include "spawn.h"
#include "timer.h"

#define LATE_MS 50	/* for a child to end after its time is over */
#define ANSWER_MS 1000	/* for the helper to take an answer */
#define IDLE_MS (LIFE_OF_ROOTS_S * 1000)

/*
 * Shared by both processes: the process that the child is looking at (0: none in particular); when the look began and
 * when it must end (clock_ms(); 0: it is not looking); and the milliseconds that the child had run or waited for a
 * processor when the look began.
 */
struct progress {
	volatile pid_t pid;
	volatile int64_t since, until, ran;
};
static struct progress *progress;

/* To see open and mapped nodes, as in enter.c. */
static const int kept[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE };

/*
 * Waits until the looker is woken. Until then the looker leaves the processors to the judge, for which the request
 * waits. True if the looker is to start the process that looks at once.
 */
static bool
await_wake(int fd, pid_t helper)
{
	char c;

	spawn_end_with(helper);
	if (!spawn_settle(fd, NULL))
		_exit(WHY_BUG);
	if (recv(SPAWN_CHANNEL, &c, 1, 0) != 1)
		_exit(0);
	return c == LOOKER_EAGER;
}

static void
confine(pid_t helper)
{
	const struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct why ignored;
	int proc;

	(void)setrlimit(RLIMIT_NPROC, &no_limit);
	if ((proc = own_proc()) != -1)
		procdir_use(proc);
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED || capabilities_keep(kept, sizeof(kept) / sizeof(kept[0]), &ignored) == -1 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 || prctl(PR_SET_DUMPABLE, 0) == -1)
		_exit(WHY_BUG);
	/* the kernel resets PR_SET_PDEATHSIG when the capabilities change */
	spawn_end_with(helper);
	if (filter_install_for(FILTER_LOOKER, &ignored) == -1)
		_exit(WHY_BUG);
}

/* If the container's first process is alone in it, the container has a node only if that process has it. */
static void
see_task(const struct lease *l, struct looks *looks, struct sight *out)
{
	container_see(l, out);
	if (out->alone)
		out->has_node = process_holds(l->init.pid, l->node, l->nodes, looks);
}

/* holder[] has a place for each of the lease's nodes. */
static void
look_by_kind(const struct look_ask *a, const struct lease *l, struct life_sight *seen, struct look_answer *out,
    pid_t *holder)
{
	struct life_share share = { .looks = { a->left, a->until }, .dirs = a->dirs };

	*out = (struct look_answer){ .nonce = a->nonce };
	if (a->anew)
		life_sight_free(seen);
	switch (a->kind) {
	case LOOK_BOOT:
	case LOOK_LIFE:
		out->of_another_boot = lease_is_of_another_boot(seen, l);
		out->yes = a->kind == LOOK_LIFE && !out->of_another_boot && lease_is_kept(seen, l, &share);
		break;
	case LOOK_USE:
		out->yes = lease_in_use(l, &share.looks);
		break;
	case LOOK_PASSED:
		out->yes = mount_was_passed(l->way, l->ways, &share.looks);
		break;
	case LOOK_TASK:
		see_task(l, &share.looks, &out->sight);
		break;
	case LOOK_HOLDERS:
		if (holders_find(l->node, l->nodes, holder, &progress->pid, &out->why) == 0)
			out->why.code = WHY_NONE;
		break;
	}
	out->left = share.looks.left;
	out->until = share.looks.until;
	out->dirs = share.dirs;
}

static bool
say(const struct look_answer *answer, const pid_t *holder, size_t holders)
{
	const size_t n = sizeof(*answer) + holders * sizeof(*holder);
	autofree char *bytes = malloc(n);
	struct why ignored;

	if (bytes == NULL)
		return false;
	memcpy(bytes, answer, sizeof(*answer));
	if (holders > 0)
		memcpy(bytes + sizeof(*answer), holder, holders * sizeof(*holder));
	return frame_write(SPAWN_CHANNEL, bytes, n, LOOKER_ANSWER_MAX, ANSWER_MS, &ignored) == 0;
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
 * The milliseconds since the look began in which the child was blocked. If the kernel does not count its running time,
 * all of them.
 */
static uint32_t
blocked_until_now(int64_t ran)
{
	const int64_t all = clock_ms() - progress->since;
	const int64_t blocked = ran == -1 || progress->ran == -1 ? all : all - (ran - progress->ran);

	return blocked > 0 ? (uint32_t)blocked : 0;
}

/* Answers one question. False: none can follow. */
static bool
answer_one(struct life_sight *seen, int schedstat)
{
	struct why ignored;
	size_t len, holders;
	autofree char *bytes = frame_read(SPAWN_CHANNEL, LOOKER_ASK_MAX, IDLE_MS, &len, &ignored);
	autofree pid_t *holder = NULL;
	struct look_answer answer;
	struct look_ask a;
	struct lease l;
	bool said = false;

	if (bytes == NULL)
		return false;
	if (look_ask_unpack(bytes, len, &a, &l) && (holder = calloc(l.nodes + 1, sizeof(*holder))) != NULL) {
		progress->pid = 0;
		progress->ran = ran_by(schedstat);
		progress->since = clock_ms();
		progress->until = progress->since + a.patience;
		end_after((int)a.patience);
		look_by_kind(&a, &l, seen, &answer, holder);
		end_after(0);
		progress->until = 0;
		answer.blocked = blocked_until_now(ran_by(schedstat));
		holders = a.kind == LOOK_HOLDERS ? l.nodes : 0;
		said = say(&answer, holder, holders);
	}
	lease_free(&l);
	return said;
}

static _Noreturn void
answer_all(pid_t parent)
{
	struct life_sight seen = { 0 };
	int schedstat;

	spawn_end_with(parent);
	schedstat = open_schedstat(getpid());
	while (answer_one(&seen, schedstat))
		continue;
	_exit(0);
}

/* Waits for a question. False if the other end is closed, or no question came in IDLE_MS. */
static bool
await_question(void)
{
	struct pollfd p = { .fd = SPAWN_CHANNEL, .events = POLLIN };
	char c;

	return poll(&p, 1, IDLE_MS) == 1 && recv(SPAWN_CHANNEL, &c, 1, MSG_PEEK) == 1;
}

/* Reports that the child was ended by a signal, or can't be ended. */
static bool
say_unseen(bool kept_waiting, uint32_t blocked)
{
	struct look_answer unseen = { .nonce = 0, .blocked = blocked };

	if (kept_waiting && progress->pid != 0)
		refuse(&unseen.why, WHY_AGAIN, "/proc/%d: can't see whether this process has the GPU open: it blocks its readers "
		    "(in execve(2) with a file of a FUSE file system open?), or there are too many processes; end it",
		    progress->pid);
	progress->pid = 0;
	progress->until = 0;
	return say(&unseen, NULL, 0);
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

void
looker_live(int fd, pid_t helper)
{
	const pid_t us = getpid();
	sigset_t child_ends;
	uint32_t blocked;
	enum end end;
	bool eager;
	pid_t pid;

	eager = await_wake(fd, helper);
	confine(helper);
	sigemptyset(&child_ends);
	sigaddset(&child_ends, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child_ends, NULL);
	/* if not eager, only for a question: the helper moves only this process out of its caller's cgroup (owncgroup.c) */
	for (; eager || await_question(); eager = false) {
		if ((pid = fork()) == 0)
			answer_all(us);
		if (pid == -1 || (end = await_end(pid, &child_ends, &blocked)) == END_ITS_OWN ||
		    !say_unseen(end == END_LATE, blocked))
			break;
	}
	_exit(0);
}
