/*
 * See ask.h.  The helper gets an empty environment and one end of a socket pair
 * as its descriptor 0, nothing else.
 */
#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../host/frame.h"
#include "../pure/cleanup.h"
#include "../pure/hash.h"
#include "../pure/wire.h"

#define HELPER GPUHELPER_LIBEXEC "/gpuhelper"
#define SEND_MS 2000
#define REPLY_MS 10000

static int
start_helper(int peer, pid_t *pid, struct why *why)
{
	char name[] = "gpuhelper", *const argv[] = { name, NULL }, *const envp[] = { NULL };
	posix_spawn_file_actions_t actions;
	int err;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, peer, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(pid, HELPER, &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	if (err == EACCES)
		return refuse(why, WHY_DENIED, "%s may not be executed by uid %u: add the worker's user to group gpuhelper",
		    HELPER, getuid());
	if (err != 0)
		return refuse(why, WHY_ABSENT, "%s can't be started: %s: is gpuhelper installed?", HELPER, strerror(err));
	return 0;
}

static int
converse(struct asking *a, const char *text, struct reply *reply, struct why *why)
{
	autofree char *answer = NULL;
	size_t len;

	if (frame_write(a->fd, text, strlen(text), SEND_MS, why) == -1 ||
	    (answer = frame_read(a->fd, WIRE_REPLY_MAX, REPLY_MS, &len, why)) == NULL)
		return refuse_within(why, "gpuhelper gave no answer");
	return reply_decode(answer, len, reply, why);
}

int
ask(const struct request *r, struct asking *a, struct reply *reply, struct why *why)
{
	autofree char *text = request_encode(r);
	int fds[2], ret;

	*a = (struct asking){ .fd = -1, .pid = -1 };
	*reply = (struct reply){ 0 };
	if (text == NULL)
		return refuse(why, WHY_DATA, "the request can't be put into words: is the container id or --root UTF-8?");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		return refuse(why, WHY_AGAIN, "socketpair: %s", strerror(errno));
	ret = start_helper(fds[1], &a->pid, why);
	close(fds[1]);
	a->fd = fds[0];
	if (ret == 0)
		ret = converse(a, text, reply, why);
	explicit_bzero(text, strlen(text));
	if (ret == -1)
		ask_end(a);
	return ret;
}

int
ask_final(struct asking *a, struct why *why)
{
	pid_t pid;
	int status;

	if (frame_send_byte(a->fd, WIRE_DONE) == -1)
		return refuse(why, WHY_IO, "gpuhelper took the grant back: %s", strerror(errno));
	/* it ends at once, and with 0 only if the byte came in time */
	while ((pid = waitpid(a->pid, &status, 0)) == -1 && errno == EINTR)
		;
	if (pid != a->pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return refuse(why, WHY_AGAIN, "gpuhelper took the grant back: writing config.json took too long");
	a->pid = -1;
	return 0;
}

void
ask_end(struct asking *a)
{
	if (a->fd != -1)
		close(a->fd);
	if (a->pid != -1)
		while (waitpid(a->pid, NULL, 0) == -1 && errno == EINTR)
			;
	*a = (struct asking){ .fd = -1, .pid = -1 };
}

int
ask_is_leased(const char *runtime_root, const char *id)
{
	const char *const pieces[] = { runtime_root, id, NULL };
	char name[65], path[sizeof(GPUHELPER_RUNDIR) + 128];

	hash_pieces(pieces, name);
	snprintf(path, sizeof(path), "%s/exec/%u/%s", GPUHELPER_RUNDIR, getuid(), name);
	return access(path, F_OK) == 0;
}
