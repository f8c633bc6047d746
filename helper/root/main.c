/*
 * gpuhelper: the helper. Runs as root for users who may execute it (mode 4750 root:gpuhelper) or connect to systemd's
 * gpuhelper.socket (--socket). Reads one request from descriptor 0, answers it, and ends.
 *
 * May assume nothing about how it was started. Must never execute a program that is not ours (spawn.h), open a path
 * that the request names, or touch anything that belongs to the caller.
 *
 * The phases, in this order:
 *	enter	takes the process over from its caller			enter.c
 *	begin	starts the children, and puts the process into its sandbox		spawn.c, filter.c
 *	peer	finds the process that asks, and its user		peer.c
 *	request	reads the request, which is not trusted			frame.c, request.c
 *	verb	carries it out; a grant has phases of its own		grant.c, verb.h
 *	reply	answers; waits for the confirmation of a grant
 *	created	after a grant, if the wrapper asks: looks who has the GPU open, and notes the container that the runtime
 *		has made by then
 */
#include <malloc.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../ask/reply.h"
#include "../ask/wire.h"
#include "../base/cleanup.h"
#include "../base/times.h"
#include "../host/own/frame.h"
#include "child/engine.h"
#include "child/judge.h"
#include "child/labeller.h"
#include "child/looker.h"
#include "child/reader.h"
#include "enter/enter.h"
#include "enter/peer.h"
#include "grant/latescan.h"
#include "grant/grant.h"
#include "self/slots.h"
#include "self/spawn.h"
#include "self/timer.h"
#include "verb/verb.h"

#define WRITE_MS 2000		/* for the peer to take a reply */
#define FINAL_MS 5000		/* for the wrapper to stage the new config.json */
#define STAY_MS 10000		/* for the runtime to make the container; the wrapper can start another helper later */
/* for one that has looked beside the runtime: only it knows the result */
#define LOOKED_STAY_MS 120000
#define INTERRUPT_MS 100		/* so much later than one of these times a signal ends the wait in any case */

/* Never blocks: the descriptor may be a full pipe of the caller's. */
static int
print_or_skip(const char *text, int status)
{
	struct pollfd p = { .fd = status == 0 ? STDOUT_FILENO : STDERR_FILENO, .events = POLLOUT };

	if (poll(&p, 1, 0) == 1 && (p.revents & POLLOUT) != 0)
		(void)!write(p.fd, text, strlen(text));
	return status;
}

static int
send_reply(const struct reply *reply, struct why *why)
{
	autofree char *made = reply->encoded == NULL ? reply_text(reply, why) : NULL;
	const char *text = reply->encoded != NULL ? reply->encoded : made;

	return text == NULL ? -1 : frame_write(STDIN_FILENO, text, strlen(text), WIRE_REPLY_MAX, WRITE_MS, why);
}

/*
 * Refuses before the peer is known. Behind the socket, standard error is the journal, which anyone who can connect
 * could fill, so nothing is written there.
 */
static int
complain(enum door door, const struct why *why)
{
	const struct reply reply = { .kind = REPLY_REFUSED, .why = *why };
	char line[sizeof(why->text) + 16];
	struct why ignored;

	snprintf(line, sizeof(line), "gpuhelper: %s\n", why->text);
	/* only to a stream socket: at another kind, a program might take bytes from root for a command */
	if (frame_is_stream(STDIN_FILENO) && (send_reply(&reply, &ignored) == 0 || door == DOOR_SOCKET))
		return (int)why->code;
	return print_or_skip(line, (int)why->code);
}

/*
 * A signal ends the wait in any case. Before recv(2) returns, the kernel closes descriptors that came with the message,
 * and the sender decides how long that takes (SO_LINGER of a TCP socket).
 */
static int
wait_for_confirmation(void)
{
	int word;

	interrupt_after(FINAL_MS + INTERRUPT_MS);
	word = frame_wait_byte(STDIN_FILENO, FINAL_MS);
	interrupt_after(0);
	return word;
}

static char *
read_request(int ms, size_t *len, struct why *why)
{
	char *text;

	interrupt_after(ms + INTERRUPT_MS);
	text = frame_read(STDIN_FILENO, WIRE_REQUEST_MAX, ms, len, why);
	interrupt_after(0);
	return text;
}

/*
 * Waits on the same connection until the runtime has made the container, so that no second helper has to start. First
 * looks who has its GPUs open (latescan.h), and ends the children, which it needs no more: there is time for that now,
 * and later the wrapper would wait.
 */
static int
report_container(const struct peer *peer)
{
	autorequest struct request r = { 0 };
	autoreply struct reply reply = { .kind = REPLY_REFUSED };
	autofree char *text = NULL;
	struct why ignored;
	const int stay = late_scan_now() ? LOOKED_STAY_MS : STAY_MS;
	size_t len;

	spawned_end_all();
	if ((text = read_request(stay, &len, &ignored)) == NULL)
		return 0;
	if (request_decode(text, len, &r, &reply.why) == 0) {
		if (!verb_find((int)r.verb)->after_grant || !process_lives(peer->pid, peer->start))
			refuse(&reply.why, WHY_DATA, "after a grant, the process that asked may only report that its container was made");
		else
			verb_find((int)r.verb)->run(peer, &r, &reply);
	}
	(void)send_reply(&reply, &ignored);
	return reply.kind == REPLY_REFUSED ? (int)reply.why.code : 0;
}

/*
 * A grant is final when the wrapper says that its changes are staged (ask/wire.h). Over a socket the wrapper does not
 * see the exit status, so a byte tells it; the grant is final whether the wrapper receives that byte or not.
 */
static int
finish_grant(const struct peer *peer, struct request *r, const struct host_changes *t)
{
	bool stays;
	int word;

	word = wait_for_confirmation();
	if ((word != WIRE_DONE && word != WIRE_STAY) || !process_lives(peer->pid, peer->start)) {
		grant_undo(peer, r, t);
		return WHY_IO;
	}
	stays = word == WIRE_STAY && slot_may_stay(peer->client.uid);
	(void)frame_send_byte(STDIN_FILENO, stays ? WIRE_STAY : WIRE_DONE);
	/* wipes the token before the helper stays */
	request_free(r);
	return stays ? report_container(peer) : 0;
}

static int
send_answer(const struct peer *peer, struct request *r, const struct reply *reply, const struct host_changes *t)
{
	struct reply instead = { .kind = REPLY_REFUSED };
	struct why ignored;

	if (send_reply(reply, &instead.why) == -1) {
		if (reply->kind == REPLY_GRANT)
			grant_undo(peer, r, t);
		/* the reply was too long, so no byte of it was sent, and a refusal can follow */
		if (instead.why.code == WHY_CONFIG)
			(void)send_reply(&instead, &ignored);
		return (int)instead.why.code;
	}
	if (reply->kind == REPLY_GRANT)
		return finish_grant(peer, r, t);
	return reply->kind == REPLY_REFUSED || reply->kind == REPLY_BUSY ? (int)reply->why.code : 0;
}

static int
serve(const struct peer *peer)
{
	autorequest struct request r = { 0 };
	autoreply struct reply reply = { .kind = REPLY_REFUSED };
	autofree char *text = NULL;
	struct host_changes changes = { 0 };
	const struct verb_row *verb;
	size_t len;

	if ((text = read_request(READ_MS, &len, &reply.why)) == NULL || request_decode(text, len, &r, &reply.why) == -1)
		return send_answer(peer, &r, &reply, &changes);
	explicit_bzero(text, len);
	verb = verb_find((int)r.verb);
	if (r.verb == VERB_GRANT)
		grant(peer, &r, &reply, &changes);
	else if (verb->run != NULL)
		verb->run(peer, &r, &reply);
	return send_answer(peer, &r, &reply, &changes);
}

/*
 * Aligns the end of the heap to a page. In a static program the heap begins inside a page. If glibc's sysmalloc() gets
 * no memory to align it, malloc() still works at first, but aborts later, perhaps while a lease is half written.
 */
static bool
heap_is_whole(void)
{
	const intptr_t page = sysconf(_SC_PAGESIZE), rest = (intptr_t)sbrk(0) % page;

	return rest == 0 || (mallinfo2().arena == 0 && sbrk(page - rest) != (void *)-1);
}

/*
 * Starts the children that the request needs, or all if it has not arrived yet. The verb seen here is only a hint: the
 * request is read and checked later.
 */
static void
start_children(const struct starter *who)
{
	char first[REQUEST_HINT_BYTES];
	const ssize_t n = recv(STDIN_FILENO, first, sizeof(first), MSG_PEEK | MSG_DONTWAIT);
	const struct verb_row *verb = verb_find(request_hint(first, n > 0 ? (size_t)n : 0));

	/* the wrapper has left, and will ask nothing */
	if (n == 0)
		return;
	/* the judge first: the request waits longest for its answer */
	if (verb->needs_judge)
		judge_start();
	if (verb->needs_look) {
		looker_start(who->of_root);
		labeller_start();
	}
	/*
	 * where the caller is not root, gpuhelper-engine is executed only after leave_cgroup(): else the caller's cgroup would
	 * be charged for its memory
	 */
	if (verb->needs_judge) {
		engine_start(who->uid == 0);
		reader_start();
	} else
		looker_exec(false);
}

/* 1: too many helpers of this user are there already. -1 with *why. */
static int
begin(enum door door, struct starter *starter, struct why *why)
{
	const int entered = enter(door, starter, why);

	if (entered != 0)
		return entered;
	start_children(starter);
	return enter_sandbox(door, starter, labeller_channel(), why);
}

/* Goes through all phases. Holds no lock when it returns. */
static int
run_phases(enum door door, struct starter *starter)
{
	struct peer peer = { 0 };
	struct why why = { 0 };
	int status, entered;

	if ((entered = begin(door, starter, &why)) == 1)
		return WHY_AGAIN;
	if (entered == -1 || (door == DOOR_SOCKET ? peer_of_socket(starter, &peer, &why) :
	    peer_of_starter(starter, &peer, &why)) == -1)
		return complain(door, &why);
	if (door == DOOR_SOCKET && (entered = slot_take(peer.client.uid, &why)) != 0)
		return entered == 1 ? WHY_AGAIN : complain(door, &why);
	status = serve(&peer);
	peer_free(&peer);
	return status;
}

int
main(int argc, char **argv)
{
	enum door door = argc == 2 && strcmp(argv[1], "--socket") == 0 ? DOOR_SOCKET : DOOR_SETUID;
	struct starter starter;
	int status;

	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return print_or_skip("gpuhelper " GPUHELPER_VERSION "\n", 0);
	if (argc > 1 && door != DOOR_SOCKET)
		return print_or_skip("usage: do not run gpuhelper by hand: gpuhelper-runc starts it without arguments, systemd with "
		    "--socket (see gpuhelper(8))\n", WHY_USAGE);
	if (!heap_is_whole())
		return print_or_skip("gpuhelper: no memory: try again\n", WHY_AGAIN);
	status = run_phases(door, &starter);
	spawned_end_all();
	leave(&starter);
	return status;
}
