/*
 * See lookerloop.h. Two processes: one waits, and starts the other, which looks; when a look takes too long, the one
 * that looks ends by a signal, and the one that waits says so and starts another for the next question. Both hold no
 * lock but the helper's place among its user's, have no descriptor of the helper's but that and the channel, and can
 * open for reading alone. Both are root's by every uid: a caller who could stop a look would have all the time he likes
 * to pass on what was not looked at yet to whoever was looked at already.
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

#define LATE_MS 50	/* for who ends at its time to have ended */
#define ANSWER_MS 1000	/* to take an answer */
#define IDLE_MS (LIFE_OF_ROOTS_S * 1000)

/*
 * Of both processes: whom the one that looks is looking at; since when and until when it may (clock_ms(); 0: it does
 * not look); and the milliseconds that it had run or stood in line for a processor then.
 */
struct progress {
	volatile pid_t pid;
	volatile int64_t since, until, ran;
};
static struct progress *progress;

/* As the helper's of these names (enter.c): who has what open and mapped. */
static const int kept[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE };

static void
settle(int fd, pid_t helper)
{
	const struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct why ignored;
	int proc;

	if (!spawn_settle(fd, NULL))
		_exit(WHY_BUG);
	(void)setrlimit(RLIMIT_NPROC, &no_limit);
	if ((proc = own_proc()) != -1)
		procdir_use(proc);
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED || capabilities_keep(kept, sizeof(kept) / sizeof(kept[0]), &ignored) == -1 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 || prctl(PR_SET_DUMPABLE, 0) == -1)
		_exit(WHY_BUG);
	spawn_end_with(helper);
	if (filter_install_for(FILTER_LOOKER, &ignored) == -1)
		_exit(WHY_BUG);
}

/* A container whose first process only pauses has the node if that one has, where nobody else is in it. */
static void
see_task(const struct lease *l, struct looks *looks, struct sight *out)
{
	container_see(l, out);
	if (out->alone)
		out->has_node = process_holds(l->init.pid, l->node, l->nodes, looks);
}

/* holder[] has a place for each of the lease's nodes. */
static void
look_at(const struct look_ask *a, const struct lease *l, struct life_sight *seen, struct look_answer *out,
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

/* In milliseconds, running or in line for a processor (schedstat in proc(5)); -1 where the kernel does not tell. */
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

/* What is left of the time since it began to look. Where nobody tells, all of it. */
static uint32_t
blocked_until_now(int64_t ran)
{
	const int64_t all = clock_ms() - progress->since;
	const int64_t blocked = ran == -1 || progress->ran == -1 ? all : all - (ran - progress->ran);

	return blocked > 0 ? (uint32_t)blocked : 0;
}

/* One question and its answer; false: there is none any more. */
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
		look_at(&a, &l, seen, &answer, holder);
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

/* False where the other end is closed. */
static bool
await_question(void)
{
	struct pollfd p = { .fd = SPAWN_CHANNEL, .events = POLLIN };
	char c;

	return poll(&p, 1, IDLE_MS) == 1 && recv(SPAWN_CHANNEL, &c, 1, MSG_PEEK) == 1;
}

/* Who looked has ended, and not by itself; or can't. */
static bool
say_unseen(bool kept_waiting, uint32_t blocked)
{
	struct look_answer unseen = { .nonce = 0, .blocked = blocked };

	if (kept_waiting && progress->pid != 0)
		refuse(&unseen.why, WHY_AGAIN, "/proc/%d: whether it has the GPU open can't be seen: it keeps whoever looks at it "
		    "waiting (in execve(2) with a file of a FUSE file system open?), or there are too many processes; end it",
		    progress->pid);
	progress->pid = 0;
	progress->until = 0;
	return say(&unseen, NULL, 0);
}

enum end {
	END_ITS_OWN,
	END_BY_SIGNAL,
	END_LATE,	/* of its time, at least: by then, or not even by then */
};

/* Some locks of the kernel let nobody go who waits for them, not even at his end: he is left to himself then. */
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
	pid_t pid;

	settle(fd, helper);
	sigemptyset(&child_ends);
	sigaddset(&child_ends, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child_ends, NULL);
	while (await_question()) {
		if ((pid = fork()) == 0)
			answer_all(us);
		if (pid == -1 || (end = await_end(pid, &child_ends, &blocked)) == END_ITS_OWN ||
		    !say_unseen(end == END_LATE, blocked))
			break;
	}
	_exit(0);
}
