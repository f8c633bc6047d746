/*
 * See frame.h. Assumes nothing about the peer, which may be slow, silent, or lie about lengths. Must never
 * wait longer than the caller's limit.
 */
#include "frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../../ask/wire.h"
#include "../../base/cleanup.h"
#include "../clock.h"

#define FIRST_READ 4096	/* a request without many folders has less */

/* Waits for an event until the deadline. Returns 0, or -1 with errno. */
static int
await_event(int fd, short event, int64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = event };
	int64_t left;
	int n;

	do {
		left = deadline - clock_ms();
		if (left <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		n = poll(&p, 1, (int)left);
	} while (n == 0 || (n == -1 && errno == EINTR));
	return n == -1 ? -1 : 0;
}

/*
 * Looks at bytes and leaves them in the socket. -1 with EPROTO if descriptors came with them, EBADMSG if a byte was
 * sent out of band. To receive a descriptor means to close it, and its file system (fuse(4)) can make close(2) wait
 * for ever, even against signals. So descriptors stay in the socket until it ends.
 */
static ssize_t
peek_frame(int fd, void *p, size_t len)
{
	struct iovec room = { .iov_base = p, .iov_len = len };
	struct msghdr m = { .msg_iov = &room, .msg_iovlen = 1 };
	struct pollfd urgent = { .fd = fd, .events = POLLPRI };
	ssize_t n;

	/* if a byte was sent out of band, some kernels show one byte with MSG_PEEK and then take another */
	if (poll(&urgent, 1, 0) == 1 && (urgent.revents & POLLPRI) != 0) {
		errno = EBADMSG;
		return -1;
	}
	n = recvmsg(fd, &m, MSG_PEEK | MSG_DONTWAIT);
	if (n > 0 && (m.msg_flags & MSG_CTRUNC) != 0) {
		errno = EPROTO;
		return -1;
	}
	return n;
}

/* The same, and takes the bytes. */
static ssize_t
receive(int fd, void *p, size_t len)
{
	const ssize_t n = peek_frame(fd, p, len);

	return n <= 0 ? n : recv(fd, p, (size_t)n, MSG_DONTWAIT);
}

static int
receive_all(int fd, void *buf, size_t len, int64_t deadline)
{
	char *p = buf;
	ssize_t n;

	while (len > 0) {
		if (await_event(fd, POLLIN, deadline) == -1)
			return -1;
		n = receive(fd, p, len);
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n == 0)
			errno = ECONNRESET;
		if (n <= 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
send_all(int fd, const void *buf, size_t len, int64_t deadline)
{
	const char *p = buf;
	ssize_t n;

	while (len > 0) {
		n = send(fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n == -1 && errno == EAGAIN && await_event(fd, POLLOUT, deadline) == 0)
			continue;
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
socket_option(int fd, int option)
{
	socklen_t size = sizeof(int);
	int value = -1;

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool
frame_is_stream(int fd)
{
	return socket_option(fd, SO_DOMAIN) == AF_UNIX && socket_option(fd, SO_TYPE) == SOCK_STREAM &&
	    socket_option(fd, SO_ACCEPTCONN) == 0;
}

static int
refuse_unread(const char *what, struct why *why)
{
	return refuse(why, WHY_DATA, "%s: %s", what, errno == EPROTO ? "descriptors were sent along, and none are accepted" :
	    errno == EBADMSG ? "a byte was sent out of band, and none is accepted" : strerror(errno));
}

/*
 * Receives the beginning of a message: its header, and as much of its body as has come by then and fits. Takes nothing
 * beyond the message. Returns the number of bytes, or -1 with *why.
 */
static ssize_t
read_beginning(int fd, unsigned char *p, size_t size, uint32_t max, uint32_t *body, int64_t deadline, struct why *why)
{
	size_t have = 0, whole;
	ssize_t n;

	while (have < WIRE_HEADER) {
		if (await_event(fd, POLLIN, deadline) == -1)
			return refuse_unread("no message came", why);
		n = peek_frame(fd, p + have, size - have);
		whole = WIRE_HEADER;
		if (n > 0 && have + (size_t)n >= WIRE_HEADER) {
			if (wire_length(p, max, body, why) == -1)
				return -1;
			whole += *body;
		}
		if (n > 0)
			n = recv(fd, p + have, have + (size_t)n < whole ? (size_t)n : whole - have, MSG_DONTWAIT);
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n == 0)
			errno = ECONNRESET;
		if (n <= 0)
			return refuse_unread("no message came", why);
		have += (size_t)n;
	}
	return (ssize_t)have;
}

char *
frame_read(int fd, uint32_t max, int ms, size_t *len, struct why *why)
{
	const int64_t deadline = clock_ms() + ms;
	unsigned char first[FIRST_READ];
	size_t have;
	uint32_t body;
	ssize_t n;
	char *text;

	if ((n = read_beginning(fd, first, sizeof(first), max, &body, deadline, why)) == -1)
		return NULL;
	if ((text = malloc((size_t)body + 1)) == NULL) {
		refuse_nomem(why);
		return NULL;
	}
	have = (size_t)n - WIRE_HEADER;
	memcpy(text, first + WIRE_HEADER, have);
	/* it may have been a token */
	explicit_bzero(first, (size_t)n);
	if (receive_all(fd, text + have, body - have, deadline) == -1) {
		refuse_unread("a message broke off", why);
		free(text);
		return NULL;
	}
	text[body] = '\0';
	*len = body;
	return text;
}

int
frame_write(int fd, const char *text, size_t len, uint32_t max, int ms, struct why *why)
{
	int64_t deadline = clock_ms() + ms;
	autofree char *message = NULL;
	int ret;

	if (len > max)
		return refuse(why, WHY_BUG, "a message of %zu bytes is too long: at most %u can be sent", len, max);
	if ((message = malloc(WIRE_HEADER + len)) == NULL)
		return refuse_nomem(why);
	/* in one piece: the other end is woken once */
	wire_header((unsigned char *)message, (uint32_t)len);
	memcpy(message + WIRE_HEADER, text, len);
	if ((ret = send_all(fd, message, WIRE_HEADER + len, deadline)) == -1)
		refuse(why, WHY_IO, "a message could not be sent: %s", strerror(errno));
	explicit_bzero(message, WIRE_HEADER + len);
	return ret;
}

int
frame_wait_byte(int fd, int ms)
{
	unsigned char c;

	return receive_all(fd, &c, 1, clock_ms() + ms) == -1 ? -1 : c;
}

int
frame_send_byte(int fd, char c)
{
	return send_all(fd, &c, 1, clock_ms() + 1000);
}
