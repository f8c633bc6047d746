/*
 * See taskgpus.h. Root decides everything; this process asks, does the operations that come with root's answers, and
 * passes on to the waiter what a person should read. Must open the container's access to a GPU only after root's lease
 * has the waiter's process, and say «go» only after that.
 */
#include "taskgpus.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../ask/waiting.h"
#include "../../base/times.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../vet/vet.h"
#include "../ask/ask.h"
#include "../ask/callerops.h"
#include "../ask/lease.h"
#include "../ask/watch.h"

#define SOON_MS 20		/* while a GPU changes hands */
#define FAILED_MS 1000		/* after an operation that could not be done */
#define SOON_MS_MAX 30000	/* so long, before that counts as a failure */
#define TELL_MS 60000		/* a line that stays the same is written again: what a web node missed is lost */

/* The last line in the log, and when it was written; and since when the task waits. */
struct last_line {
	char line[512];
	int64_t at, waits_since;
};

static void
send_message(const struct task *t, bool good, const struct buf *b)
{
	if (good)
		(void)send(t->socket, b->p, b->len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
task_tell(const struct task *t, const char *line)
{
	autobuf struct buf b = { 0 };
	const bool good = waiting_line(&b, line);

	send_message(t, good, &b);
}

static void
tell_if_new(const struct task *t, const char *line, struct last_line *last)
{
	const int64_t now = clock_ms();

	if (strcmp(line, last->line) == 0 && now - last->at < TELL_MS)
		return;
	task_tell(t, line);
	snprintf(last->line, sizeof(last->line), "%s", line);
	last->at = now;
}

/* Waits. */

static bool
has_ended(const struct task *t)
{
	struct pollfd p = { .fd = t->pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* Waits until the queue may have moved, or the time is over that the policy allows. */
static void
wait_in_queue(const struct task *t, int watch, const struct reply *reply, struct last_line *last)
{
	if (last->waits_since == 0)
		last->waits_since = clock_ms();
	watch_queue(watch, t->pidfd, reply, last->waits_since);
}

/* Asks. */

/* The answer to task_ask_early(), unless that was «busy»: only a task that is there has a position in root's queue. */
static bool
take_early_answer(struct task *t, const struct request *r, struct reply *reply)
{
	struct why ignored;
	bool good;

	if (t->early.fd == -1)
		return false;
	good = ask_again(r, REPLY_MS, &t->early, reply, &ignored) == 0 && reply->kind != REPLY_BUSY;
	ask_end(&t->early);
	if (!good)
		reply_free(reply);
	return good;
}

/*
 * Sends a request about the task. What keeps the helper from answering may pass: the helper was killed, or is being
 * replaced.
 */
static void
ask_about(struct task *t, struct request *r, struct reply *reply)
{
	struct helper_conn a;
	struct why why;

	if (take_early_answer(t, r, reply))
		return;
	if (ask(r, t->settings->door, &a, reply, &why) == 0) {
		ask_end(&a);
		return;
	}
	*reply = (struct reply){ .kind = REPLY_BUSY, .why = why };
}

static bool
begin_request(const struct task *t, enum verb verb, struct request *r)
{
	struct why ignored;

	if (lease_request(t->command, verb, r, &ignored) == -1 || lease_note_allocation(t->settings, r, &ignored) == -1)
		return false;
	r->waiter = t->waiter;
	return true;
}

/* Does the operations for other containers, and asks again at once if they are done. */
static bool
did_ops(const struct reply *reply, struct request *r)
{
	struct why ignored;

	if (reply->ops.n == 0) {
		strlist_free(&r->retry.revoked);
		return false;
	}
	return caller_ops_do(&reply->ops, r, &ignored) == 0;
}

void
task_ask_early(struct task *t)
{
	struct request r;
	struct why ignored;

	if (begin_request(t, VERB_TASK, &r)) {
		/* operations that come with «busy» would be lost: the next request gets them */
		r.retry.no_ops = true;
		if (ask_begin(&r, t->settings->door, &t->early, &ignored) == -1)
			ask_end(&t->early);
	}
	request_free(&r);
}

static void
refuse_waiter(const struct task *t, const struct why *why)
{
	autobuf struct buf b = { 0 };
	const bool good = waiting_refused(&b, (unsigned char)why->code, why->text);

	send_message(t, good, &b);
}

/*
 * Root's lease has the waiter's process, or that of another task in the container: opens the container's access, and
 * lets the waiter go on. True: the other task ended meanwhile, so ask again.
 */
static bool
start_task(const struct task *t, const struct reply *reply, struct request *r)
{
	autobuf struct buf b = { 0 };
	struct why why;
	size_t i;

	for (i = 0; i < reply->env.n; i++)
		if (!vet_names_gpus(t->settings, reply->env.v[i])) {
			refuse_waiter(t, &(struct why){ WHY_BUG, "gpuhelper's reply has a variable that names no GPU" });
			return false;
		}
	if (caller_ops_do(&reply->ops, r, &why) == -1) {
		r->retry.no_ops = false;
		if (why.code == WHY_AGAIN)
			return true;
		refuse_waiter(t, &why);
		return false;
	}
	task_tell(t, reply->text);
	if (waiting_go(&b, &reply->env))
		send_message(t, true, &b);
	else
		refuse_waiter(t, &(struct why){ WHY_DATA, "the variables for the task are too long" });
	return false;
}

/*
 * Handles an answer to VERB_TASK. True: ask again. *soon_since: when «busy, but soon» was first said in a row.
 */
static bool
handle_answer(const struct task *t, const struct reply *reply, struct request *r, int watch, struct last_line *last,
    int64_t *soon_since)
{
	if (reply->kind == REPLY_DONE)
		return start_task(t, reply, r);
	if (reply->kind != REPLY_BUSY) {
		refuse_waiter(t, &reply->why);
		return false;
	}
	if (did_ops(reply, r))
		return true;
	if (reply->wait > 0) {
		*soon_since = 0;
		tell_if_new(t, reply->why.text, last);
		wait_in_queue(t, watch, reply, last);
		r->retry.no_ops = false;
		return true;
	}
	if (*soon_since == 0)
		*soon_since = clock_ms();
	if (clock_ms() - *soon_since > SOON_MS_MAX) {
		refuse_waiter(t, &reply->why);
		return false;
	}
	(void)watch_for(-1, t->pidfd, SOON_MS);
	return true;
}

/* Takes the GPUs for the waiter, or tells it why not. Ends early if the waiter does. */
static void
acquire_gpus(struct task *t)
{
	const int watch = watch_state();
	struct last_line last = { .at = 0 };
	int64_t soon_since = 0;
	struct request r;
	bool again = begin_request(t, VERB_TASK, &r);

	while (again && !has_ended(t)) {
		struct reply reply;

		ask_about(t, &r, &reply);
		again = handle_answer(t, &reply, &r, watch, &last, &soon_since);
		reply_free(&reply);
	}
	request_free(&r);
	if (watch != -1)
		close(watch);
}

/* Gives up the waiter's position, or the GPUs of the task that has ended. */
static void
return_gpus(struct task *t)
{
	struct request r;
	bool again = begin_request(t, VERB_OVER, &r);

	/* the waiter ended before it was named: the helper undoes what it has done */
	ask_end(&t->early);
	while (again) {
		struct reply reply;

		ask_about(t, &r, &reply);
		again = did_ops(&reply, &r) || reply.retry_ms > 0 || reply.kind == REPLY_BUSY || reply.ops.n > 0;
		if (again && (reply.ops.n == 0 || r.retry.no_ops))
			(void)poll(NULL, 0, r.retry.no_ops ? FAILED_MS : reply.retry_ms > 0 ? (int)reply.retry_ms :
			    SOON_MS);
		r.retry.no_ops = false;
		reply_free(&reply);
	}
	request_free(&r);
}

void
task_acquire_gpus(struct task *t)
{
	acquire_gpus(t);
	close(t->socket);
	while (!has_ended(t))
		(void)watch_for(-1, t->pidfd, 1 << 30);
	return_gpus(t);
}
