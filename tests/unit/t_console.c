/*
 * user/console.c: the line reaches the engine's terminal even while the task writes to it, and so
 * does the task's own output. The test plays the runtime, the task and the engine at once.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tap.h"
#include "user/console.h"

#define ROUNDS 60
#define TASK_LINES 4000

static char top[] = "/tmp/t_console.XXXXXX";

static int
listen_at(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd == -1 || bind(fd, (struct sockaddr *)&a, sizeof(a)) == -1 || listen(fd, 1) == -1)
		exit(2);
	return fd;
}

static int
connect_to_console(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd == -1 || connect(fd, (struct sockaddr *)&a, sizeof(a)) == -1)
		exit(2);
	return fd;
}

static void
send_terminal(int to, int terminal)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { (char[]){ "ptm" }, 3 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &terminal, sizeof(int));
	if (sendmsg(to, &m, 0) != 3)
		exit(2);
}

static int
receive_terminal(int from)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = { 0 };
	char name[16];
	struct iovec iov = { name, sizeof(name) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	int fd;

	if (recvmsg(from, &m, 0) != 3 || (c = CMSG_FIRSTHDR(&m)) == NULL || c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/*
 * Does what crun does: the task writes before the engine has the terminal. The terminal is no
 * session's, so the task's end hangs nothing up.
 */
static void
be_runtime_and_task(const char *path, bool writes_first)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave, i;
	struct termios raw;
	pid_t task;

	if (master == -1 || grantpt(master) == -1 || unlockpt(master) == -1 ||
	    (slave = open(ptsname(master), O_RDWR | O_NOCTTY)) == -1 || tcgetattr(slave, &raw) == -1)
		exit(2);
	raw.c_oflag &= ~(tcflag_t)OPOST;
	(void)tcsetattr(slave, TCSANOW, &raw);
	if ((task = fork()) == 0) {
		close(master);
		for (i = 0; writes_first && i < TASK_LINES; i++)
			if (write(slave, "one\n", 4) != 4)
				_exit(1);
		_exit(0);
	}
	send_terminal(connect_to_console(path), master);
	close(master);
	_exit(task == -1 || waitpid(task, &i, 0) != task || i != 0);
}

/*
 * Reads all that the terminal shows. Tells whether the line is there, and counts the task's bytes.
 */
static bool
shows(int terminal, bool *line, size_t *task)
{
	static const char want[] = "gpuhelper: GPU 0\ngpuhelper: warning: one\n";
	static char all[TASK_LINES * 4 + 4096];
	size_t len = 0;
	ssize_t n;
	char *at;

	while (len < sizeof(all) - 1 && (n = read(terminal, all + len, sizeof(all) - 1 - len)) > 0)
		len += (size_t)n;
	all[len] = '\0';
	at = strstr(all, want);
	*line = at != NULL;
	*task = len - (*line ? strlen(want) : 0);
	return strlen(all) == len;
}

/* Runs one task. Returns true if the terminal shows the line and all of the task's output. */
static bool
task_is_told(bool writes_first)
{
	const size_t expected = writes_first ? (size_t)TASK_LINES * 4 : 0;
	char engine[64], path[CONSOLE_PATH_MAX];
	int listener, from, terminal, status;
	bool line = false, whole = false;
	size_t task = 0;
	pid_t pid;

	snprintf(engine, sizeof(engine), "%s/pty.sock", top);
	listener = listen_at(engine);
	/* the process in between watches the one that becomes the runtime */
	if ((pid = fork()) == 0) {
		if (!console_tell(engine, "gpuhelper: GPU 0\ngpuhelper: warning: one\n", path))
			_exit(2);
		be_runtime_and_task(path, writes_first);
	}
	if (pid != -1 && (from = accept(listener, NULL, NULL)) != -1) {
		if ((terminal = receive_terminal(from)) != -1) {
			whole = shows(terminal, &line, &task);
			close(terminal);
		}
		close(from);
	}
	close(listener);
	unlink(engine);
	if (pid == -1 || waitpid(pid, &status, 0) != pid || status != 0 || !whole || !line || task != expected) {
		printf("# line %d, %zu of %zu bytes of the task\n", line, task, expected);
		return false;
	}
	return true;
}

int
main(void)
{
	int i;

	if (mkdtemp(top) == NULL)
		return 2;
	alarm(120);
	ok(task_is_told(false), "the line reaches the terminal of a task that writes nothing");
	for (i = 0; i < ROUNDS && task_is_told(true); i++)
		;
	ok(i == ROUNDS,
	    "the line and all output reach the terminal of a task that writes meanwhile (%d times)",
	    ROUNDS);
	rmdir(top);
	return done_testing();
}
