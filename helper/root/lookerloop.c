/*
 * See lookerloop.h. Two processes: one waits, and starts the other, which looks; when a look takes too long, the one
 * that looks ends by a signal, and the one that waits says so and starts another for the next question. Both hold no
 * lock, have no descriptor of the helper's but the channel, can open for reading alone, and count as the caller's
 * processes, who may end or stop them: all that he wins is that nothing is seen for him.
 */
#include "lookerloop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../host/container.h"
#include "../host/frame.h"
#include "../host/holders.h"
#include "../host/leaselife.h"
#include "../host/passed.h"
#include "../pure/cleanup.h"
#include "../pure/lookask.h"
#include "capability.h"
#include "filter.h"
#include "timer.h"

#define CHANNEL 3
#define ANSWER_MS 1000	/* to take an answer */
#define IDLE_MS (LIFE_OF_ROOTS_S * 1000)

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40	/* capabilities(7); Linux 5.9 */
#endif

/* Of both processes: whom the one that looks is looking at. */
static volatile pid_t *looked_at;

/* As the helper's of these names (enter.c): who has what open and mapped. */
static const int kept[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE };

/* The parent may have ended before the kernel was told to end us with it. */
static void
end_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(WHY_BUG);
}

static bool
own_channel(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	if (null == -1)
		return false;
	for (i = 0; i < CHANNEL; i++)
		if (dup2(null, i) == -1)
			return false;
	return (fd == CHANNEL || dup2(fd, CHANNEL) == CHANNEL) && syscall(SYS_close_range, CHANNEL + 1U, ~0U, 0U) == 0;
}

/* The real uid is the caller's: by that one the kernel counts a process, a zombie, too, and lets it be ended. */
static void
settle(int fd, uid_t caller, pid_t helper)
{
	const struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct why ignored;

	(void)setrlimit(RLIMIT_NPROC, &no_limit);
	looked_at = mmap(NULL, sizeof(*looked_at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (looked_at == MAP_FAILED || !own_channel(fd) || (caller != 0 && setresuid(caller, 0, 0) == -1) ||
	    capabilities_keep(kept, sizeof(kept) / sizeof(kept[0]), &ignored) == -1 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 || prctl(PR_SET_DUMPABLE, 0) == -1)
		_exit(WHY_BUG);
	end_with(helper);
	if (filter_install_for_looker(&ignored) == -1)
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
	case LOOK_LIFE:
		out->yes = lease_is_kept(seen, l, &share);
		/* FALLTHROUGH */
	case LOOK_BOOT:
		out->of_another_boot = lease_is_of_another_boot(seen, l);
		break;
	case LOOK_USE:
		out->yes = lease_in_use(&seen->processes, l, &share.looks);
		break;
	case LOOK_PASSED:
		out->yes = mount_was_passed(l->way, l->ways, &share.looks);
		break;
	case LOOK_TASK:
		see_task(l, &share.looks, &out->sight);
		break;
	case LOOK_HOLDERS:
		if (holders_find(l->node, l->nodes, holder, looked_at, &out->why) == 0)
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
	return frame_write(CHANNEL, bytes, n, ANSWER_MS, &ignored) == 0;
}

/* One question and its answer; false: there is none any more. */
static bool
answer_one(struct life_sight *seen)
{
	struct why ignored;
	size_t len, holders;
	autofree char *bytes = frame_read(CHANNEL, LOOKER_ASK_MAX, IDLE_MS, &len, &ignored);
	autofree pid_t *holder = NULL;
	struct look_answer answer;
	struct look_ask a;
	struct lease l;
	bool said = false;

	if (bytes == NULL)
		return false;
	if (look_ask_unpack(bytes, len, &a, &l) && (holder = calloc(l.nodes + 1, sizeof(*holder))) != NULL) {
		*looked_at = 0;
		end_after((int)a.patience);
		look_at(&a, &l, seen, &answer, holder);
		end_after(0);
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

	end_with(parent);
	while (answer_one(&seen))
		continue;
	_exit(0);
}

/* False where the other end is closed. */
static bool
await_question(void)
{
	struct pollfd p = { .fd = CHANNEL, .events = POLLIN };
	char c;

	return poll(&p, 1, IDLE_MS) == 1 && recv(CHANNEL, &c, 1, MSG_PEEK) == 1;
}

/* Who looked has ended, and not by itself. */
static bool
say_unseen(void)
{
	struct look_answer unseen = { .nonce = 0 };

	if (*looked_at != 0)
		refuse(&unseen.why, WHY_AGAIN, "/proc/%d: whether it has the GPU open can't be seen: it keeps whoever looks at it "
		    "waiting (in execve(2) with a file of a FUSE file system open?); end it", *looked_at);
	*looked_at = 0;
	return say(&unseen, NULL, 0);
}

void
looker_live(int fd, uid_t caller, pid_t helper)
{
	const pid_t us = getpid();
	int status = 0;
	pid_t pid;

	settle(fd, caller, helper);
	while (await_question()) {
		if ((pid = fork()) == 0)
			answer_all(us);
		if (pid == -1 || waitpid(pid, &status, 0) != pid || WIFEXITED(status) || !say_unseen())
			break;
	}
	_exit(0);
}
