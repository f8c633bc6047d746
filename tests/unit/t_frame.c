/*
 * host/own/frame.c: messages over a socket, from a peer that is gone, is silent, lies about the length,
 * or sends descriptors or out-of-band data.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ask/wire.h"
#include "host/clock.h"
#include "host/own/frame.h"
#include "tap.h"

static int ours, theirs;

static void
connect_both(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		exit(1);
	ours = pair[0];
	theirs = pair[1];
}

static void
part(void)
{
	close(ours);
	close(theirs);
}

/* Whether this message is read. */
static bool
hears(const char *text)
{
	struct why why;
	size_t len;
	char *got = frame_read(ours, 100, 200, &len, &why);
	bool same = got != NULL && len == strlen(text) && strcmp(got, text) == 0;

	free(got);
	return same;
}

/* Whether no message is read, for this reason. */
static bool
refuses(const char *says)
{
	struct why why = { 0 };
	size_t len;
	char *got = frame_read(ours, 100, 200, &len, &why);

	if (got != NULL || strstr(why.text, says) == NULL)
		printf("# %s\n", got != NULL ? got : why.text);
	free(got);
	return got == NULL && strstr(why.text, says) != NULL;
}

static void
send_piece(const char *bytes, size_t n, int descriptor)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec io = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = n };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };

	if (descriptor != -1) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&control.head), &descriptor, sizeof(int));
	}
	ok(sendmsg(theirs, &m, 0) == (ssize_t)n,
	    "%zu bytes are sent%s", n, descriptor != -1 ? ", and a descriptor" : "");
}

static void
test_whole(void)
{
	struct why why;

	connect_both();
	is_int(frame_write(theirs, "hello", 5, 5, 100, &why), 0, "a message is written");
	is_int(frame_write(theirs, "", 0, 0, 100, &why), 0, "an empty message is written");
	ok(hears("hello") && hears(""), "both messages are read, one by one");
	is_int(frame_write(theirs, "last", 4, 9, 100, &why), 0, "a third message is written");
	is_int(frame_write(theirs, "longer", 6, 5, 100, &why), -1,
	    "a message that is too long is not written");
	close(theirs);
	theirs = -1;
	ok(hears("last"), "a message from a peer that is gone is read");
	ok(refuses("reset"), "after it, the read fails");
	part();
}

static void
test_lies(void)
{
	const unsigned char *head;
	unsigned char room[WIRE_HEADER];
	int64_t begin;

	connect_both();
	wire_header(room, 101);
	head = room;
	send_piece((const char *)head, sizeof(room), -1);
	ok(refuses("101"), "a message whose length is too great is refused");
	part();
	connect_both();
	wire_header(room, 5);
	send_piece((const char *)head, sizeof(room), -1);
	send_piece("hel", 3, -1);
	begin = clock_ms();
	ok(refuses("broke off"), "a truncated message is refused");
	ok(clock_ms() - begin >= 190 && clock_ms() - begin < 5000,
	    "the rest of a message is waited for as long as the timeout says");
	close(theirs);
	theirs = -1;
	part();
	connect_both();
	ok(refuses("no message came"), "without a message, the read fails");
	part();
}

/* Nothing is read after a descriptor. The end of the socket closes the descriptor. */
static void
test_descriptors(void)
{
	unsigned char head[WIRE_HEADER];
	int pipes[2], at;
	char c;

	for (at = 0; at < 2; at++) {
		connect_both();
		ok(pipe2(pipes, O_NONBLOCK) == 0, "a pipe is made");
		wire_header(head, 5);
		send_piece((const char *)head, sizeof(head), at == 0 ? pipes[1] : -1);
		send_piece("hello", 5, at == 1 ? pipes[1] : -1);
		close(pipes[1]);
		ok(refuses("descriptors were sent along"),
		    "a descriptor sent with the %s is refused", at == 0 ? "length" : "text");
		ok(read(pipes[0], &c, 1) == -1 && errno == EAGAIN,
		    "the descriptor stays in the socket");
		part();
		ok(read(pipes[0], &c, 1) == 0, "the descriptor is closed with the socket");
		close(pipes[0]);
	}
}

static void
test_out_of_band(void)
{
	connect_both();
	if (send(theirs, "x", 1, MSG_OOB) == -1) {
		skip("an out-of-band byte", "this kernel has no out-of-band data on Unix sockets");
		part();
		return;
	}
	ok(refuses("out of band"), "an out-of-band byte is refused");
	part();
}

static void
test_byte(void)
{
	connect_both();
	is_int(frame_send_byte(theirs, 'W'), 0, "a byte is sent");
	is_int(frame_wait_byte(ours, 100), 'W', "the byte is read");
	is_int(frame_wait_byte(ours, 100), -1, "without a byte, the wait ends");
	is_int(frame_send_byte(theirs, 'X'), 0, "a second byte is sent");
	close(theirs);
	theirs = -1;
	is_int(frame_wait_byte(ours, 100), 'X', "a byte from a peer that is gone is read");
	is_int(frame_wait_byte(ours, 100), -1, "after it, the wait fails");
	part();
}

int
main(void)
{
	test_whole();
	test_lies();
	test_descriptors();
	test_out_of_band();
	test_byte();
	return done_testing();
}
