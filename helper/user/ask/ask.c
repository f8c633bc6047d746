/*
 * See ask.h. Runs with the caller's rights. A helper that is started here gets an empty environment, one end
 * of a socket pair as descriptor 0, and /dev/null as 1 and 2.
 */
#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../ask/replyread.h"
#include "../../ask/requestwrite.h"
#include "../../ask/wire.h"
#include "../../base/bytes.h"
#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../host/clock.h"
#include "../../host/own/frame.h"
#include "../../lease/leasename.h"
#include "../command/namespace.h"
#include "door.h"

#define SEND_MS 2000
#define EARLY_MAX 65536		/* bytes that a socket holds, whatever its limits (unix(7)) */
#define BUSY_MS 5000		/* for asking again while the user's other requests hold all slots (root/self/slots.h) */
#define BUSY_BRIEF_MS 1000	/* likewise, for ask_briefly() */
#define BUSY_NAP_MS 20

/* The connection of ask_early(), and when it was made. */
static struct {
	struct helper_conn a;
	int64_t since;
} ahead = { HELPER_CONN_NONE, 0 };

static int
start_helper(int peer, pid_t *pid, struct why *why)
{
	char name[] = "gpuhelper", *const argv[] = { name, NULL }, *const envp[] = { NULL };
	posix_spawn_file_actions_t actions;
	int err;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, peer, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	/* the helper must not inherit the files that are meant for the runtime (memfile.h) */
	posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	err = posix_spawn(pid, DOOR_HELPER, &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	if (err != 0)
		return refuse(why, WHY_ABSENT, "%s can't be started: %s: is gpuhelper installed?", DOOR_HELPER, strerror(err));
	return 0;
}

/* Ignores a failed write: the helper refuses some callers before it reads, and its reply says why. */
static void
send_request(int fd, const struct bytes *message)
{
	struct why ignored;

	(void)frame_write(fd, message->p, message->n, WIRE_REPLY_MAX, SEND_MS, &ignored);
}

/* A reply as it came; the caller frees the text. */
struct received {
	char *text;
	size_t len;
};

/*
 * Reads the reply. Returns 0, -1 with *why, or 1 with *why if the helper closed the connection without a
 * reply.
 */
static int
receive_reply(struct helper_conn *a, int ms, struct received *received, struct why *why)
{
	bool closed;

	errno = 0;
	if ((received->text = frame_read(a->fd, WIRE_REPLY_MAX, ms, &received->len, why)) != NULL)
		return 0;
	closed = errno == ECONNRESET || errno == EPIPE;
	refuse_within(why, "gpuhelper gave no answer");
	return closed ? 1 : -1;
}

/* Waits a different time in each process, so that the waiting ones do not all ask at the same moment. */
static void
sleep_while_busy(void)
{
	const struct timespec nap = { .tv_nsec = (BUSY_NAP_MS + (long)getpid() % BUSY_NAP_MS) * 1000000 };

	nanosleep(&nap, NULL);
}

void
ask_cancel_early(void)
{
	if (ahead.a.fd != -1)
		close(ahead.a.fd);
	ahead.a.fd = -1;
}

void
ask_unused_end(void)
{
	ask_cancel_early();
	ask_end(&ahead.a);
}

/* Takes over the connection of ask_early(). False: there is none, or it is too old. */
static bool
take_early(struct helper_conn *a)
{
	if (ahead.a.fd == -1 || clock_ms() - ahead.since > UNUSED_MS) {
		ask_unused_end();
		return false;
	}
	*a = ahead.a;
	ahead.a = (struct helper_conn)HELPER_CONN_NONE;
	return true;
}

/* Starts a helper, a->pid, at the other end of a->fd. With a message, it finds that at its start. -1 with *why. */
static int
start_setuid(const struct bytes *message, struct helper_conn *a, struct why *why)
{
	int fds[2], ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		return refuse(why, WHY_AGAIN, "socketpair: %s", strerror(errno));
	a->fd = fds[0];
	if (message != NULL)
		send_request(a->fd, message);
	ret = start_helper(fds[1], &a->pid, why);
	close(fds[1]);
	return ret;
}

void
ask_early(enum door_setting door)
{
	struct helper_conn *a = &ahead.a;
	struct why ignored;

	ahead.since = clock_ms();
	if (door_choose(door, &a->fd, &ignored) == OPEN_SETUID && start_setuid(NULL, a, &ignored) == -1) {
		a->pid = -1;
		ask_cancel_early();
	}
}

/* Returns what receive_reply() returns. */
static int
ask_by_setuid(const struct bytes *message, struct helper_conn *a, struct received *received, struct why *why)
{
	/*
	 * a helper that finds the request at its start knows which of its programs it needs. A longer request than
	 * the socket holds would block
	 */
	const bool early = a->fd == -1 && message->n <= EARLY_MAX;

	if (a->fd == -1 && start_setuid(early ? message : NULL, a, why) == -1)
		return -1;
	if (!early)
		send_request(a->fd, message);
	return receive_reply(a, REPLY_MS, received, why);
}

/*
 * True if the helper ended without a reply because it was busy, as its exit status says. Reaps the helper and
 * closes the connection.
 */
static bool
ended_as_busy(struct helper_conn *a)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(a->pid, &status, 0)) == -1 && errno == EINTR)
		;
	close(a->fd);
	*a = (struct helper_conn)HELPER_CONN_NONE;
	return pid != -1 && WIFEXITED(status) && WEXITSTATUS(status) == WHY_AGAIN;
}

/*
 * Uses the helper a->pid, if there is one. Starts a new one as long as they end without a reply because they were busy.
 */
static int
ask_by_helpers(const struct bytes *message, int busy_ms, struct helper_conn *a, struct received *received,
    struct why *why)
{
	const int64_t deadline = clock_ms() + busy_ms;
	int ret;

	while ((ret = ask_by_setuid(message, a, received, why)) != 0) {
		if (ret == -1 || !ended_as_busy(a))
			return -1;
		if (clock_ms() > deadline)
			return refuse(why, WHY_AGAIN, "gpuhelper gave no answer: it is busy with too many requests of uid %u at once: "
			    "try again", getuid());
		sleep_while_busy();
	}
	return 0;
}

/*
 * Uses the connection a->fd. Connects again as long as the helper closes connections unanswered because it
 * is busy.
 */
static int
ask_by_socket(const struct bytes *message, int busy_ms, struct helper_conn *a, struct received *received,
    struct why *why)
{
	const int64_t deadline = clock_ms() + busy_ms;
	int ret;

	for (;;) {
		send_request(a->fd, message);
		if ((ret = receive_reply(a, REPLY_MS, received, why)) == 0)
			return 0;
		if (ret == -1 || clock_ms() > deadline)
			return refuse_within(why, DOOR_SOCKET_PATH);
		close(a->fd);
		sleep_while_busy();
		if ((a->fd = door_connect(why)) == -1)
			return -1;
	}
}

static int
ask_by_any_door(const struct bytes *message, enum door_setting door, int busy_ms, struct helper_conn *a,
    struct received *received, struct why *why)
{
	enum open_door by;

	if (take_early(a))
		by = a->pid != -1 ? OPEN_SETUID : OPEN_SOCKET;
	else
		by = door_choose(door, &a->fd, why);
	switch (by) {
	case OPEN_SOCKET:
		return ask_by_socket(message, busy_ms, a, received, why);
	case OPEN_SETUID:
		return ask_by_helpers(message, busy_ms, a, received, why);
	case OPEN_NONE:
		break;
	}
	return -1;
}

/* Sends the request. The reply, unread, is in *received. */
static int
ask_and_receive(const struct request *r, enum door_setting door, int busy_ms, struct helper_conn *a,
    struct received *received, struct why *why)
{
	struct bytes message;
	autofree char *text = request_encode(r, &message.n);
	int ret;

	*a = (struct helper_conn)HELPER_CONN_NONE;
	if (text == NULL)
		return refuse_nomem(why);
	if (message.n > WIRE_REQUEST_MAX)
		return refuse(why, WHY_DATA, "the request has %zu bytes, and at most %d can be asked: make GPUHELPER_FOLDERS, the "
		    "instance vars or the token shorter", message.n, WIRE_REQUEST_MAX);
	message.p = text;
	ret = ask_by_any_door(&message, door, busy_ms, a, received, why);
	explicit_bzero(text, message.n);
	if (ret == -1)
		ask_end(a);
	return ret;
}

static int
ask_in_time(const struct request *r, enum door_setting door, int busy_ms, struct helper_conn *a, struct reply *reply,
    struct why *why)
{
	struct received received = { 0 };
	int ret;

	*reply = (struct reply){ 0 };
	ret = ask_and_receive(r, door, busy_ms, a, &received, why);
	if (ret == 0 && (ret = reply_decode(received.text, received.len, reply, why)) == -1)
		ask_end(a);
	free(received.text);
	return ret;
}

char *
ask_unread(const struct request *r, size_t *len, struct why *why)
{
	struct received received = { 0 };
	struct helper_conn a;

	if (ask_and_receive(r, DOOR_AUTO, BUSY_MS, &a, &received, why) == -1)
		return NULL;
	ask_end(&a);
	*len = received.len;
	return received.text;
}

int
ask(const struct request *r, enum door_setting door, struct helper_conn *a, struct reply *reply, struct why *why)
{
	return ask_in_time(r, door, BUSY_MS, a, reply, why);
}

int
ask_briefly(const struct request *r, enum door_setting door, struct helper_conn *a, struct reply *reply,
    struct why *why)
{
	return ask_in_time(r, door, BUSY_BRIEF_MS, a, reply, why);
}

int
ask_final(struct helper_conn *a, bool stay, struct why *why)
{
	int word;

	if (frame_send_byte(a->fd, stay ? WIRE_STAY : WIRE_DONE) == -1)
		return refuse(why, WHY_IO, "gpuhelper took the grant back: %s", strerror(errno));
	/* the helper answers only if the byte came in time */
	word = frame_wait_byte(a->fd, REPLY_MS);
	if (word != WIRE_DONE && word != WIRE_STAY)
		return refuse(why, WHY_AGAIN, "gpuhelper took the grant back: writing config.json took too long");
	a->stays = word == WIRE_STAY;
	return 0;
}

int
ask_begin(const struct request *r, enum door_setting door, struct helper_conn *a, struct why *why)
{
	struct bytes message;
	autofree char *text = request_encode(r, &message.n);

	*a = (struct helper_conn)HELPER_CONN_NONE;
	if (text == NULL)
		return refuse_nomem(why);
	message.p = text;
	switch (door_choose(door, &a->fd, why)) {
	case OPEN_SOCKET:
		send_request(a->fd, &message);
		return 0;
	case OPEN_SETUID:
		return start_setuid(&message, a, why);
	case OPEN_NONE:
		break;
	}
	return -1;
}

int
ask_again(const struct request *r, int ms, struct helper_conn *a, struct reply *reply, struct why *why)
{
	struct received received = { 0 };
	struct bytes message;
	autofree char *text = request_encode(r, &message.n);
	int ret;

	*reply = (struct reply){ 0 };
	a->stays = false;
	if (text == NULL)
		return refuse_nomem(why);
	message.p = text;
	send_request(a->fd, &message);
	ret = receive_reply(a, ms, &received, why) == 0 ? reply_decode(received.text, received.len, reply, why) : -1;
	free(received.text);
	if (ret == 0)
		return 0;
	/* only root may kill a helper that hangs; another user's helper ends by its own timer (root/self/timer.h) */
	if (a->pid != -1)
		(void)kill(a->pid, SIGKILL);
	return -1;
}

void
ask_end(struct helper_conn *a)
{
	/* a helper behind the socket is no child of ours: wait until it closes the connection */
	if (a->fd != -1 && a->pid == -1 && shutdown(a->fd, SHUT_WR) == 0)
		(void)frame_wait_byte(a->fd, REPLY_MS);
	if (a->fd != -1)
		close(a->fd);
	if (a->pid != -1)
		while (waitpid(a->pid, NULL, 0) == -1 && errno == EINTR)
			;
	*a = (struct helper_conn)HELPER_CONN_NONE;
}

int
ask_is_leased(const char *runtime_root, const char *id)
{
	char name[HASH_SIZE], path[sizeof(GPUHELPER_RUNDIR) + 128];

	exec_record_name(runtime_root, id, name);
	snprintf(path, sizeof(path), "%s/exec/%u/%s", GPUHELPER_RUNDIR, namespace_outer_uid(), name);
	return access(path, F_OK) == 0;
}
