/*
 * See setup.h: programs of the host that setup starts, by the names that an administrator would type.  They get a
 * PATH of root's directories and nothing else of the environment: who runs setup may have CONTAINERS_CONF or
 * DOCKER_HOST set.
 */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../host/clock.h"
#include "../pure/cleanup.h"
#include "../pure/text.h"

#define RUN_MS 60000
#define OUT_MAX (8 * 1024 * 1024)

char *
setup_program(const char *name)
{
	autofree char *dirs = strdup(SETUP_PATH);
	char *dir, *save = NULL, *path;

	for (dir = dirs != NULL ? strtok_r(dirs, ":", &save) : NULL; dir != NULL; dir = strtok_r(NULL, ":", &save)) {
		if (asprintf(&path, "%s/%s", dir, name) == -1)
			return NULL;
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* What there is to read; false at the end. */
static bool
take(int fd, struct buf *to)
{
	char bytes[4096];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n > 0 && to->len < OUT_MAX)
		buf_add(to, bytes, (size_t)n);
	return n > 0 || (n == -1 && (errno == EAGAIN || errno == EINTR));
}

/*
 * Until the program has ended: what it started, a container's monitor say, may keep the pipes open for longer.
 * False: it is late.
 */
static bool
hear(pid_t pid, const int from[2], struct buf to[2], int *status)
{
	const int64_t until = clock_ms() + RUN_MS;
	struct pollfd p[2] = { { .fd = from[0], .events = POLLIN }, { .fd = from[1], .events = POLLIN } };
	bool ended = false;
	int i;

	while (!ended && clock_ms() < until) {
		(void)poll(p, 2, p[0].fd == -1 && p[1].fd == -1 ? 20 : 100);
		ended = waitpid(pid, status, WNOHANG) == pid;
		for (i = 0; i < 2; i++)
			while (p[i].fd != -1 && poll(&p[i], 1, 0) > 0)
				if (!take(p[i].fd, &to[i]))
					p[i].fd = -1;
	}
	return ended;
}

static int
start(const char *path, const char *const *argv, int out, int err, pid_t *pid)
{
	static char path_of[] = "PATH=" SETUP_PATH, home[] = "HOME=/root";
	char *const env[] = { path_of, home, NULL };
	posix_spawn_file_actions_t actions;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, err, 2);
	error = posix_spawn(pid, path, &actions, NULL, (char *const *)(uintptr_t)argv, env);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* One line of what it wrote on stderr. */
static void
one_line(const char *text, char said[400])
{
	char *c;

	snprintf(said, 400, "%s", text != NULL ? text : "");
	for (c = said; *c != '\0'; c++)
		if (*c == '\n')
			*c = c[1] != '\0' ? ' ' : '\0';
}

int
setup_run(const char *const *argv, struct ran *r, struct why *why)
{
	autofree char *path = strchr(argv[0], '/') != NULL ? strdup(argv[0]) : setup_program(argv[0]);
	autobuf struct buf said = { 0 };
	struct buf to[2] = { { 0 }, { 0 } };
	int out[2], err[2], from[2], status = -1, error;
	pid_t pid;

	*r = (struct ran){ .status = -1 };
	if (path == NULL)
		return refuse(why, WHY_ABSENT, "%s is not there", argv[0]);
	/* if whoever started us ignores this signal, the kernel keeps no exit status for waitpid(2) */
	(void)signal(SIGCHLD, SIG_DFL);
	if (pipe2(out, O_CLOEXEC) == -1)
		return refuse(why, WHY_AGAIN, "pipe: %s", strerror(errno));
	if (pipe2(err, O_CLOEXEC) == -1) {
		(void)close(out[0]), (void)close(out[1]);
		return refuse(why, WHY_AGAIN, "pipe: %s", strerror(errno));
	}
	error = start(path, argv, out[1], err[1], &pid);
	(void)close(out[1]), (void)close(err[1]);
	from[0] = out[0], from[1] = err[0];
	if (error == 0 && !hear(pid, from, to, &status)) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
		buf_puts(&to[1], "not done within a minute");
	}
	(void)close(out[0]), (void)close(err[0]);
	said = to[1];
	if (error != 0)
		return refuse(why, WHY_IO, "%s: %s", path, strerror(error));
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	one_line(said.p, r->said);
	if (to[0].p == NULL)
		buf_puts(&to[0], "");
	return (r->out = buf_take(&to[0])) != NULL ? 0 : refuse_nomem(why);
}
