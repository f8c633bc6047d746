/*
 * See looker.h. An answer counts only if it repeats the question's number, which nobody can guess. The looker may
 * end at any moment, even in the middle of a message. After any other answer, or none, it gets no more questions.
 */
#include "looker.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../host/clock.h"
#include "../host/frame.h"
#include "../host/holders.h"
#include "../pure/cleanup.h"
#include "../pure/lookask.h"
#include "lookerloop.h"
#include "slowness.h"

#define SEND_MS 200	/* for the looker to take a question */
#define LATE_MS 400	/* beyond a look's time, for the looker to report its end on a busy machine */
#define END_MS 200	/* for the looker to end once its channel is shut */

/*
 * Time limits while other helpers wait for the lock. LOOK_MS: one look, perhaps at all processes of a slow machine.
 * SHORT_LOOK_MS: one look after a process blocked the looker, in this request or an earlier one (slowness.h).
 * ALL_LOOKS_MS: all looks together; less than the time that a helper waits for the lock. Root's requests have more. If
 * the looker was blocked for more than SLOW_MS, other than for a processor, a user caused that.
 */
#define LOOK_MS 600
#define LOOK_OF_ROOTS_MS 1300
#define SHORT_LOOK_MS 100
#define SHORT_LOOK_OF_ROOTS_MS 150
#define SLOW_MS 200
#define PASSED_OF_ROOTS_MS 1000
#define OF_NOBODY UINT32_MAX	/* no uid: any user can slow a look at all processes */
#define ALL_LOOKS_MS 700
#define ALL_OF_ROOTS_MS 20000
#define LOOKS_AT_ONE 4096	/* at the open and mapped files of one process that only pauses */

static struct {
	int fd;
	pid_t pid;
	uint64_t nonce;
	bool of_root;
	bool awake;
	bool stalled;
	int64_t left_ms;	/* for looks while others wait */
} looker = { .fd = -1 };

void
looker_start(bool of_root)
{
	const pid_t us = getpid();
	int pair[2];

	looker.of_root = of_root;
	looker.left_ms = of_root ? ALL_OF_ROOTS_MS : ALL_LOOKS_MS;
	if (getrandom(&looker.nonce, sizeof(looker.nonce), 0) != sizeof(looker.nonce) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return;
	if ((looker.pid = fork()) == 0)
		looker_live(pair[1], us);
	close(pair[1]);
	if (looker.pid == -1) {
		looker.pid = 0;
		close(pair[0]);
	} else
		looker.fd = pair[0];
}

void
looker_wake(bool moved)
{
	if (looker.fd != -1 && !looker.awake)
		looker.awake = frame_send_byte(looker.fd, moved ? LOOKER_EAGER : 0) == 0;
}

pid_t
looker_pid(void)
{
	return looker.pid;
}

static void
close_channel(void)
{
	if (looker.fd != -1)
		close(looker.fd);
	looker.fd = -1;
}

void
looker_end(void)
{
	struct pollfd p = { .fd = looker.fd };

	/* if it does not end in time, the kernel kills it when this process ends (spawn_end_with()) */
	if (looker.fd != -1 && shutdown(looker.fd, SHUT_WR) == 0 && poll(&p, 1, END_MS) == 1 && (p.revents & POLLHUP) != 0)
		(void)waitpid(looker.pid, NULL, 0);
	close_channel();
}

/* Reads the answer, and holder[] after it. False: no valid answer came. */
static bool
heard(const struct look_ask *a, struct look_answer *out, pid_t *holder, size_t holders)
{
	const size_t want = sizeof(*out) + holders * sizeof(*holder);
	struct why ignored;
	autofree char *bytes = NULL;
	size_t len;

	if ((bytes = frame_read(looker.fd, LOOKER_ANSWER_MAX, (int)a->patience + LATE_MS, &len, &ignored)) == NULL ||
	    len < sizeof(*out))
		return false;
	memcpy(out, bytes, sizeof(*out));
	out->why.text[sizeof(out->why.text) - 1] = '\0';
	if (out->nonce == 0 && len == sizeof(*out))
		return true;
	if (out->nonce != a->nonce || len != want)
		return false;
	if (holders > 0)
		memcpy(holder, bytes + sizeof(*out), holders * sizeof(*holder));
	return true;
}

/* Puts a question. False if it can't be answered. */
static bool
ask_looker(struct look_ask *a, const struct lease *l, struct look_answer *out, pid_t *holder, size_t holders)
{
	struct why ignored;
	autofree char *bytes = NULL;
	size_t len;

	if (looker.fd == -1)
		return false;
	looker_wake(false);
	if (++looker.nonce == 0)
		looker.nonce++;
	a->nonce = looker.nonce;
	if ((bytes = look_ask_pack(a, l, &len)) == NULL)
		return false;
	if (frame_write(looker.fd, bytes, len, LOOKER_ASK_MAX, SEND_MS, &ignored) == -1 || !heard(a, out, holder, holders)) {
		close_channel();
		return false;
	}
	return out->nonce != 0;
}

/* The uid for which slowness.h remembers that a look took long. */
static uint32_t
slow_one(const struct look_ask *a, const struct lease *l)
{
	return a->kind == LOOK_PASSED ? OF_NOBODY : l->uid;
}

static uint32_t
patience(const struct look_ask *a, const struct lease *l)
{
	int64_t ms = looker.of_root ? LOOK_OF_ROOTS_MS : LOOK_MS;

	if (looker.stalled || slowness_is_noted(slow_one(a, l)))
		ms = l->uid == 0 ? SHORT_LOOK_OF_ROOTS_MS : SHORT_LOOK_MS;
	return (uint32_t)(ms < looker.left_ms ? ms : looker.left_ms);
}

/* Puts a question within the time limits. False if it can't be answered; then *looks is used up, too. */
static bool
ask_within(struct look_ask *a, const struct lease *l, struct looks *looks, struct look_answer *out)
{
	const int64_t begin = clock_ms();
	int64_t took;
	bool seen;

	*out = (struct look_answer){ .nonce = 0 };
	a->patience = patience(a, l);
	a->left = looks->left;
	a->until = looks->until;
	seen = looker.left_ms > 0 && ask_looker(a, l, out, NULL, 0);
	looker.stalled = looker.stalled || !seen;
	took = clock_ms() - begin;
	if (out->blocked > SLOW_MS)
		slowness_note(slow_one(a, l));
	/* counts even if the answer came in time: a process can block the looker a little in every look */
	looker.left_ms -= took;
	if (!seen) {
		looks->left = 0;
		return false;
	}
	*looks = (struct looks){ out->left, out->until };
	return true;
}

void
looker_sees_life(const struct lease *l, bool boot_alone, bool anew, struct life_share *share, struct life *out)
{
	struct look_ask a = { .kind = boot_alone ? LOOK_BOOT : LOOK_LIFE, .anew = anew, .dirs = share->dirs };
	struct look_answer answer;

	*out = (struct life){ .kept = true };
	if (share->unseen || (share->unseen = !ask_within(&a, l, &share->looks, &answer)))
		return;
	share->dirs = answer.dirs;
	*out = (struct life){ answer.of_another_boot, answer.yes };
}

bool
looker_sees_use(const struct lease *l)
{
	struct look_ask a = { .kind = LOOK_USE, .anew = true };
	struct looks looks = { .left = INUSE_LOOKS };
	struct look_answer answer;

	return !ask_within(&a, l, &looks, &answer) || answer.yes;
}

bool
looker_sees_passed(const struct lease *l, struct looks *looks)
{
	struct look_ask a = { .kind = LOOK_PASSED };
	struct look_answer answer;

	/* several looks may be necessary, and on a slow machine each takes as long as a user's whole share */
	if (looker.of_root && looks->until == 0)
		looks->until = clock_ms() + PASSED_OF_ROOTS_MS;
	return !ask_within(&a, l, looks, &answer) || answer.yes;
}

void
looker_sees_task(const struct lease *l, struct sight *out)
{
	struct look_ask a = { .kind = LOOK_TASK };
	struct looks looks = { .left = LOOKS_AT_ONE };
	struct look_answer answer;

	*out = (struct sight){ .pauses = true, .task = true, .has_node = true };
	if (ask_within(&a, l, &looks, &answer))
		*out = answer.sight;
}

int
looker_finds_holders(const struct edit_node *node, size_t nodes, pid_t *holder, struct why *why)
{
	struct look_ask a = { .kind = LOOK_HOLDERS, .patience = HOLDERS_MS + LATE_MS };
	struct look_answer answer = { .nonce = 0 };
	struct lease l = { .node = calloc(nodes + 1, sizeof(*l.node)), .nodes = nodes };
	bool seen;

	if (l.node == NULL)
		return refuse_nomem(why);
	memcpy(l.node, node, nodes * sizeof(*node));
	seen = ask_looker(&a, &l, &answer, holder, nodes);
	free(l.node);
	if (answer.why.code == WHY_NONE)
		return seen ? 0 : refuse(why, WHY_AGAIN, "can't see which containers have the GPU open: the process that looks "
		    "could not be started, or was killed: raise the limit on processes (ulimit, pids.max) and try again");
	*why = answer.why;
	return -1;
}
