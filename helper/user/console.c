/*
 * See console.h. Runs with the caller's rights. A task must never wait for this: every wait here has a limit,
 * and ends when the runtime ends. Only write_lines() goes on, because a detached runtime ends at once.
 */
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "../host/file.h"

#define WAIT_MS 30000		/* for the runtime to make its terminal */
#define HOLD_MS 10000		/* for the task's first process to open the terminal */
#define WRITE_MS 1000		/* for the lines, while the task writes */
#define TRY_MS 1
#define SEND_S 5		/* for the engine to receive the terminal */
#define NAME_MAX_SENT 4096	/* bytes; the runtime sends the terminal's name in the same message */

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

/* The state of the process in between. */
struct between {
	int listener, engine, runtime;	/* runtime: a pidfd */
	char path[CONSOLE_PATH_MAX];
	const char *lines;
};

static bool
address_of(const char *path, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(a->sun_path))
		return false;
	memcpy(a->sun_path, path, strlen(path));
	return true;
}

static int
connect_to(const char *path)
{
	const struct timeval limit = { .tv_sec = SEND_S };
	struct sockaddr_un a;
	int fd;

	if (!address_of(path, &a) || (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * Listens on a socket beside the engine's, in a directory that the engine closes to others. Only this user
 * may connect.
 */
static int
listen_beside(const char *engine, char path[CONSOLE_PATH_MAX])
{
	const char *slash = strrchr(engine, '/');
	struct sockaddr_un a;
	mode_t mask;
	int fd, n, ret;

	n = snprintf(path, CONSOLE_PATH_MAX, "%.*sgpuhelper-%d", slash != NULL ? (int)(slash + 1 - engine) : 0, engine,
	    getpid());
	if (n < 0 || (size_t)n >= CONSOLE_PATH_MAX || !address_of(path, &a) ||
	    (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return -1;
	mask = umask(077);
	ret = bind(fd, (const struct sockaddr *)&a, sizeof(a));
	(void)umask(mask);
	if (ret == 0 && listen(fd, 1) == 0)
		return fd;
	if (ret == 0)
		(void)unlink(path);
	close(fd);
	return -1;
}

/* Accepts the runtime's connection. -1 if none came, if the runtime is gone, or if another user connected. */
static int
accept_runtime(const struct between *b)
{
	struct pollfd p[2] = { { .fd = b->listener, .events = POLLIN }, { .fd = b->runtime, .events = POLLIN } };
	struct ucred cred = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(cred);
	int fd;

	if (poll(p, 2, WAIT_MS) <= 0 || (p[0].revents & POLLIN) == 0 ||
	    (fd = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC)) == -1)
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 && (cred.uid == geteuid() || cred.uid == 0))
		return fd;
	close(fd);
	return -1;
}

/* Sends one message with the descriptor *terminal, or receives one if *terminal is -1. */
static ssize_t
pass_terminal(int fd, char *data, size_t len, int *terminal)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct iovec iov = { data, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room,
		.msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	ssize_t n;

	if (*terminal != -1) {
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), terminal, sizeof(int));
		return sendmsg(fd, &m, MSG_NOSIGNAL);
	}
	n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	if (n <= 0 || (c = CMSG_FIRSTHDR(&m)) == NULL || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(terminal, CMSG_DATA(c), sizeof(int));
	return n;
}

static bool
is_readable(int fd, int runtime, int ms)
{
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = runtime, .events = POLLIN } };

	return poll(p, 2, ms) > 0 && (p[0].revents & POLLIN) != 0;
}

/*
 * Writes to the terminal's other end by descriptor, because its /dev/pts may not be visible here. crun starts
 * the task before it passes the terminal on: while the task writes, a write that does not wait fails with
 * EAGAIN, so it is tried again. Returns that end, or -1.
 */
static int
write_lines(int terminal, const char *lines)
{
	int other = ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	const struct timespec nap = { .tv_nsec = TRY_MS * 1000000L };
	int left = WRITE_MS / TRY_MS;
	ssize_t n;

	while (other != -1 && *lines != '\0')
		if ((n = write(other, lines, strlen(lines))) > 0)
			lines += n;
		else if (errno == EAGAIN && left-- > 0)
			(void)nanosleep(&nap, NULL);
		else
			break;
	return other;
}

static void
stand_between(const struct between *b)
{
	struct pollfd runtime = { .fd = b->runtime, .events = POLLIN };
	int terminal = -1, other = -1, from;
	char name[NAME_MAX_SENT];
	ssize_t n = -1;

	from = accept_runtime(b);
	(void)unlink(b->path);
	if (from == -1 || !is_readable(from, b->runtime, WAIT_MS) ||
	    (n = pass_terminal(from, name, sizeof(name), &terminal)) <= 0)
		_exit(1);
	other = write_lines(terminal, b->lines);
	(void)pass_terminal(b->engine, name, (size_t)n, &terminal);
	close(b->engine);
	close(terminal);
	/*
	 * while nobody has the terminal open, the engine would read its end: keep it open until the task has opened
	 * it
	 */
	if (other != -1)
		(void)poll(&runtime, 1, HOLD_MS);
	_exit(0);
}

/* Closes all other descriptors, the task's own, too: someone may wait for the end of a pipe. */
static void
keep_only_ours(struct between *b)
{
	int null = open("/dev/null", O_RDWR);
	int keep[] = { b->listener, b->engine, b->runtime };
	size_t i;

	(void)setsid();
	(void)signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < 3; i++) {
		(void)dup2(null, (int)i);
		(void)dup2(keep[i], 200 + (int)i);
	}
	(void)syscall(SYS_close_range, 3U, 199U, 0U);
	(void)syscall(SYS_close_range, 203U, ~0U, 0U);
	b->listener = 200;
	b->engine = 201;
	b->runtime = 202;
}

bool
console_tell(const char *engine, const char *lines, char path[CONSOLE_PATH_MAX])
{
	autoclose int to = connect_to(engine), listener = to != -1 ? listen_beside(engine, path) : -1;
	autoclose int self = listener != -1 ? (int)syscall(SYS_pidfd_open, getpid(), 0) : -1;
	struct between b = { .listener = listener, .engine = to, .runtime = self, .lines = lines };
	pid_t pid;

	if (self == -1) {
		if (listener != -1)
			(void)unlink(path);
		return false;
	}
	memcpy(b.path, path, sizeof(b.path));
	if ((pid = fork()) == 0) {
		keep_only_ours(&b);
		stand_between(&b);
	}
	if (pid == -1)
		(void)unlink(path);
	return pid != -1;
}
