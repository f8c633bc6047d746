/*
 * gpuhelper: the helper.  Runs as root for whoever may execute it (mode 4750
 * root:gpuhelper), hears one request on descriptor 0, answers it, ends.
 *
 * May assume nothing about how it was started; must never execute a program,
 * open a path that the request names, or touch what belongs to the caller.
 *
 * The phases, in this order:
 *	enter	the process becomes ours				enter.c
 *	peer	who asks						peer.c
 *	request	what is asked; read, not yet believed			frame.c, request.c
 *	grant	identity, policy, devices, folders, lease, audit	grant.c
 *	reply	the answer; for a grant, its being final
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../host/frame.h"
#include "../pure/cleanup.h"
#include "../pure/wire.h"
#include "enter.h"
#include "grant.h"
#include "peer.h"

#define READ_MS 2000		/* to send a request */
#define WRITE_MS 2000		/* to take a reply */
#define FINAL_MS 5000		/* to write down what was granted */

static int
say(const char *text, int status)
{
	(void)!write(status == 0 ? STDOUT_FILENO : STDERR_FILENO, text, strlen(text));
	return status;
}

static int
send_reply(const struct reply *reply, struct why *why)
{
	autofree char *text = reply_encode(reply);

	if (text == NULL)
		return refuse_nomem(why);
	return frame_write(STDIN_FILENO, text, strlen(text), WRITE_MS, why);
}

/* Before anyone is known: tell whoever listens. */
static int
complain(const struct why *why)
{
	const struct reply reply = { .kind = REPLY_REFUSED, .why = *why };
	char line[sizeof(why->text) + 16];
	struct why ignored;

	snprintf(line, sizeof(line), "gpuhelper: %s\n", why->text);
	if (send_reply(&reply, &ignored) == 0)
		return (int)why->code;
	return say(line, (int)why->code);
}

/* A grant is final when the wrapper says that its changes are written down. */
static int
answer(const struct peer *p, const struct request *r, const struct reply *reply, const char *key)
{
	struct why why;

	if (send_reply(reply, &why) == -1) {
		if (reply->kind == REPLY_GRANT)
			grant_undo(p, r, key);
		return WHY_IO;
	}
	if (reply->kind == REPLY_GRANT && frame_wait_byte(STDIN_FILENO, FINAL_MS) != WIRE_DONE) {
		grant_undo(p, r, key);
		return WHY_IO;
	}
	return reply->kind == REPLY_REFUSED || reply->kind == REPLY_BUSY ? (int)reply->why.code : 0;
}

static int
serve(const struct peer *p)
{
	autorequest struct request r = { 0 };
	autoreply struct reply reply = { 0 };
	autofree char *text = NULL;
	char key[65] = "";
	size_t len;

	if ((text = frame_read(STDIN_FILENO, WIRE_REQUEST_MAX, READ_MS, &len, &reply.why)) == NULL ||
	    request_decode(text, len, &r, &reply.why) == -1) {
		reply.kind = REPLY_REFUSED;
		return answer(p, &r, &reply, key);
	}
	explicit_bzero(text, len);
	switch (r.verb) {
	case VERB_GRANT:
		grant(p, &r, &reply, key);
		break;
	case VERB_LOOK:
		look(p, &r, &reply);
		break;
	case VERB_REFUSED:
	case VERB_PLAIN:
		note(p, &r, &reply);
		break;
	}
	return answer(p, &r, &reply, key);
}

int
main(int argc, char **argv)
{
	struct starter starter;
	struct peer peer = { 0 };
	struct why why = { 0 };
	int status;

	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return say("gpuhelper " GPUHELPER_VERSION "\n", 0);
	if (argc > 1)
		return say("usage: gpuhelper is started by gpuhelper-runc, without arguments (see gpuhelper(8))\n", WHY_USAGE);
	if (enter(&starter, &why) == -1 || peer_of_starter(&starter, &peer, &why) == -1)
		return complain(&why);
	status = serve(&peer);
	peer_free(&peer);
	return status;
}
