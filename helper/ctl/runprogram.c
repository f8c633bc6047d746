/*
 * See runprogram.h. Programs get a PATH of root's directories and a HOME, and nothing else of the environment, because
 * whoever runs gpuhelperctl may have set CONTAINERS_CONF or DOCKER_HOST. gpuhelperctl goes on even if a program never
 * ends or never stops writing.
 */
#include "runprogram.h"

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

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../host/clock.h"

#define RUN_MS 60000
#define KILL_MS 5000		/* until a program that was killed has ended, unless the kernel holds it */
#define OUT_MAX (8 * 1024 * 1024)

char *
program_find(const char *name)
{
	autofree char *dirs = strdup(PROGRAM_PATH);
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

/* One of the program's two streams. */
struct stream {
	int fd;			/* -1: read to its end, or to OUT_MAX */
	struct buf text;
};

/* Reads what the stream has now, up to OUT_MAX in all.  False if the stream has more than that. */
static bool
take_output(struct stream *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	char bytes[4096];
	ssize_t n;

	while (s->fd != -1 && poll(&p, 1, 0) > 0) {
		if (s->text.len >= OUT_MAX)
			return false;
		if ((n = read(s->fd, bytes, sizeof(bytes))) > 0)
			buf_add(&s->text, bytes, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			s->fd = -1;
	}
	return true;
}

/* How a program that program_run() started came to its end. */
enum end { END_BY_ITSELF, END_LATE, END_TALKATIVE };

/*
 * Reads both streams until the program has ended, not until they are closed: a container's monitor, say, may
 * inherit them and keep them open for longer.
 */
static enum end
hear_output(pid_t pid, struct stream from[2], int *status)
{
	const int64_t until = clock_ms() + RUN_MS;
	bool ended = false, fits = true;

	while (!ended && fits) {
		struct pollfd p[2] = { { .fd = from[0].fd, .events = POLLIN }, { .fd = from[1].fd, .events = POLLIN } };

		if (clock_ms() >= until)
			return END_LATE;
		(void)poll(p, 2, p[0].fd == -1 && p[1].fd == -1 ? 20 : 100);
		/* wait before reading: after the program has ended, one read gets everything that it wrote */
		ended = waitpid(pid, status, WNOHANG) == pid;
		fits = take_output(&from[0]) && take_output(&from[1]);
	}
	return ended ? END_BY_ITSELF : END_TALKATIVE;
}

/* Ends the program, which setup waits for no longer. */
static void
end(pid_t pid, int *status)
{
	const int64_t until = clock_ms() + KILL_MS;

	(void)kill(pid, SIGKILL);
	while (waitpid(pid, status, WNOHANG) == 0 && clock_ms() < until)
		(void)poll(NULL, 0, 20);
}

static int
start(const char *path, const char *const *argv, int out, int err, pid_t *pid)
{
	static char path_of[] = "PATH=" PROGRAM_PATH, home[] = "HOME=/root";
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

/* True for a line that engines write whether the command fails or not. */
static bool
is_warning(const char *line)
{
	return strstr(line, "level=warning") != NULL || strstr(line, "level=info") != NULL || text_starts(line, "WARN");
}

/* Appends the lines of the text, with or without warnings, as one line. */
static void
add_lines(struct buf *b, const char *text, bool warnings)
{
	autofree char *copy = strdup(text);
	char *line, *rest = copy;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0' && (warnings || !is_warning(line)))
			buf_printf(b, "%s%s", b->len > 0 ? " " : "", line);
}

/* The text as one line.  A failed command's error comes last: warnings, and what does not fit of the beginning, go. */
static void
one_line(const char *text, char said[PROGRAM_SAID])
{
	autobuf struct buf b = { 0 };
	size_t over;

	*said = '\0';
	if (text == NULL)
		return;
	add_lines(&b, text, false);
	if (b.len == 0)
		add_lines(&b, text, true);
	if (b.failed || b.len == 0)
		return;
	over = b.len >= PROGRAM_SAID ? b.len - PROGRAM_SAID + 1 + strlen("...") : 0;
	snprintf(said, PROGRAM_SAID, "%s%s", over > 0 ? "..." : "", b.p + over);
}

/* Waits for the program, and fills in *r from what it wrote. */
static int
follow(pid_t pid, struct stream from[2], struct ran *r, struct why *why)
{
	int status = -1;
	const enum end how = hear_output(pid, from, &status);

	if (how != END_BY_ITSELF) {
		end(pid, &status);
		/* the reason stands first: one line has room for few words */
		buf_free(&from[1].text);
		buf_puts(&from[1].text, how == END_LATE ? "not done within a minute" : "wrote more than 8 MiB");
	}
	r->status = how == END_BY_ITSELF && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	one_line(from[1].text.p, r->said);
	return (r->out = buf_take(&from[0].text)) != NULL ? 0 : refuse_nomem(why);
}

int
program_run(const char *const *argv, struct ran *r, struct why *why)
{
	autofree char *path = strchr(argv[0], '/') != NULL ? strdup(argv[0]) : program_find(argv[0]);
	struct stream from[2] = { { .fd = -1 }, { .fd = -1 } };
	int out[2], err[2], error, ret;
	pid_t pid;

	*r = (struct ran){ .status = -1 };
	if (path == NULL)
		return refuse(why, WHY_ABSENT, "%s is not installed", argv[0]);
	/* if the process that started us ignores this signal, the kernel keeps no exit status for waitpid(2) */
	(void)signal(SIGCHLD, SIG_DFL);
	if (pipe2(out, O_CLOEXEC) == -1)
		return refuse(why, WHY_AGAIN, "pipe: %s", strerror(errno));
	if (pipe2(err, O_CLOEXEC) == -1) {
		(void)close(out[0]), (void)close(out[1]);
		return refuse(why, WHY_AGAIN, "pipe: %s", strerror(errno));
	}
	error = start(path, argv, out[1], err[1], &pid);
	(void)close(out[1]), (void)close(err[1]);
	from[0].fd = out[0], from[1].fd = err[0];
	ret = error != 0 ? refuse(why, WHY_IO, "%s: %s", path, strerror(error)) : follow(pid, from, r, why);
	(void)close(out[0]), (void)close(err[0]);
	buf_free(&from[0].text);
	buf_free(&from[1].text);
	return ret;
}
