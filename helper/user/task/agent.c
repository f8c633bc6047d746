/*
 * See agent.h. Runs with the caller's rights. The task's log, its terminal and its directory must not depend on this
 * process: it keeps nothing open but its end of the socket pair.
 */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../ask/waiting.h"
#include "../../host/file.h"
#include "../../host/process/procdir.h"
#include "../../host/process/process.h"
#include "taskgpus.h"

#define READY_MS 60000	/* for the runtime to start the waiter; a slow machine with many containers needs seconds */

/* Reads «ready», and finds the waiter's process by what the kernel says of the sender. */
static bool
receive_from_waiter(struct task *t)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	struct ucred who = { .pid = 0 };
	char kind = 0;
	struct iovec io = { &kind, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control) };
	struct pollfd p = { .fd = t->socket, .events = POLLIN };
	struct cmsghdr *c;

	while (poll(&p, 1, READY_MS) == -1 && errno == EINTR)
		;
	if (recvmsg(t->socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1 || kind != WAITING_READY)
		return false;
	for (c = CMSG_FIRSTHDR(&m); c != NULL; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&who, CMSG_DATA(c), sizeof(who));
	t->waiter.pid = who.pid;
	/* by descriptor: while it is open, the number can't become another process's */
	return who.pid > 0 && (t->pidfd = (int)syscall(SYS_pidfd_open, who.pid, 0)) != -1 &&
	    process_start(who.pid, &t->waiter.start);
}

static _Noreturn void
run_agent(struct task *t, const struct strlist *lines)
{
	size_t i;

	(void)setsid();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)prctl(PR_SET_NAME, "gpuhelper-agent");
	task_ask_early(t);
	if (!receive_from_waiter(t))
		_exit(0);
	for (i = 0; i < lines->n; i++)
		task_tell(t, lines->v[i]);
	task_acquire_gpus(t);
	_exit(0);
}

/* Closes all but standard input, output and error, which lead nowhere, and the socket. */
static bool
close_files(struct task *t)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool good = null != -1;
	int i;

	for (i = 0; i < 3; i++)
		good = good && dup2(null, i) == i;
	if (t->socket != 3)
		good = good && dup2(t->socket, 3) == 3;
	t->socket = 3;
	file_forget_root();
	procdir_forget();
	return good && syscall(SYS_close_range, 4U, ~0U, 0U) == 0 && fcntl(3, F_SETFD, FD_CLOEXEC) == 0;
}

int
agent_start(const struct command *c, const struct settings *s, struct waiter *w, const struct strlist *lines,
    struct why *why)
{
	struct task t = { .command = c, .settings = s, .socket = w->ours, .pidfd = -1,
		.early = HELPER_CONN_NONE };
	pid_t pid;
	int status;

	/* twice: the agent must be no child of the runtime, which may wait for its children */
	if ((pid = fork()) == 0) {
		if ((pid = fork()) != 0)
			_exit(pid == -1 ? 1 : 0);
		if (!close_files(&t) || chdir("/") == -1)
			_exit(1);
		run_agent(&t, lines);
	}
	close(w->ours);
	w->ours = -1;
	if (pid == -1)
		return refuse(why, WHY_AGAIN, "fork: %s", strerror(errno));
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return refuse(why, WHY_IO, "waiting for the agent's start: %s", strerror(errno));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : refuse(why, WHY_AGAIN, "the agent can't be started: raise "
	    "the limit on processes (pids.max) and try again");
}
