/*
 * See spawn.h.  The one file of helper/root that executes anything.  Must execute what only root can have put there,
 * and by the descriptor that was looked at.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/hostview.h"
#include "../host/trust.h"
#include "../pure/cleanup.h"

bool
spawn_settle(int channel, int *keep)
{
	int null, i;

	/* above all places that are to be taken */
	if ((channel = fcntl(channel, F_DUPFD_CLOEXEC, SPAWN_CHANNEL + 2)) == -1 ||
	    (keep != NULL && (*keep = fcntl(*keep, F_DUPFD_CLOEXEC, SPAWN_CHANNEL + 2)) == -1) ||
	    (null = open("/dev/null", O_RDWR | O_CLOEXEC)) == -1)
		return false;
	for (i = 0; i < SPAWN_CHANNEL; i++)
		if (dup2(null, i) == -1)
			return false;
	if (dup2(channel, SPAWN_CHANNEL) == -1 ||
	    (keep != NULL && dup3(*keep, SPAWN_CHANNEL + 1, O_CLOEXEC) == -1))
		return false;
	if (keep != NULL)
		*keep = SPAWN_CHANNEL + 1;
	return syscall(SYS_close_range, SPAWN_CHANNEL + (keep != NULL ? 2U : 1U), ~0U, 0U) == 0;
}

void
spawn_end_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(WHY_BUG);
}

/* *fd is good for executing it, and for nothing else. */
static int
find_program(const char *name, int *fd, struct why *why)
{
	autoclose int dir = -1;
	struct stat st;
	char shown[256];

	snprintf(shown, sizeof(shown), "%s/%s", GPUHELPER_LIBEXEC, name);
	if (hostview_compare(GPUHELPER_LIBEXEC, WHY_DENIED, why) != 0 ||
	    trust_find_place(GPUHELPER_LIBEXEC, true, &dir, why) != TRUST_FOUND)
		return -1;
	if ((*fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return refuse(why, WHY_CONFIG, "%s: %s: install it (make install)", shown, strerror(errno));
	if (trust_check(*fd, shown, why) == 0 && fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
		return 0;
	close(*fd);
	*fd = -1;
	return why->code != WHY_NONE ? -1 : refuse(why, WHY_CONFIG, "%s is no program: install it (make install)", shown);
}

static _Noreturn void
become(const char *name, int program, int channel, pid_t parent)
{
	char *const argv[] = { (char *)(uintptr_t)name, NULL }, *const envp[] = { NULL };
	char first;

	spawn_end_with(parent);
	if (spawn_settle(channel, &program) && recv(SPAWN_CHANNEL, &first, 1, MSG_PEEK) == 1)
		(void)fexecve(program, argv, envp);
	_exit(WHY_BUG);
}

int
spawn_program(const char *name, pid_t *pid, int *channel, struct why *why)
{
	autoclose int program = -1;
	const pid_t us = getpid();
	int pair[2];

	if (find_program(name, &program, why) == -1)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return refuse(why, WHY_AGAIN, "socketpair: %s", strerror(errno));
	if ((*pid = fork()) == 0)
		become(name, program, pair[1], us);
	close(pair[1]);
	if (*pid == -1) {
		close(pair[0]);
		return refuse(why, WHY_AGAIN, "%s can't be started: %s: raise the limit on processes (ulimit, pids.max) and try "
		    "again", name, strerror(errno));
	}
	*channel = pair[0];
	return 0;
}
