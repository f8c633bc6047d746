/*
 * See spawn.h. The only file of helper/root that executes a program. The program must be one that only root can have
 * installed, and must be executed by the descriptor that was checked.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/own/frame.h"
#include "../../host/own/ownprogram.h"
#include "../../host/process/procdir.h"
#include "capability.h"
#include "ids.h"
#include "ownproc.h"
#include "slots.h"
#include "state.h"

#define END_MS 200
#define SEND_MS 2000

/* Duplicates the descriptor to a number above all SPAWN_ ones. -1 on failure. */
static int
dup_above(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_PROGRAM + 1);
}

/* Sets up the descriptors of spawn.h, moves *program to SPAWN_PROGRAM until it is executed, and closes all others. */
static bool
set_descriptors(int channel, int *program)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC), nothing = dup_above(null), talk = dup_above(channel);
	const int slot = slot_fd() != -1 ? dup_above(slot_fd()) : nothing;
	int i;

	if (talk == -1 || slot == -1 || (*program = dup_above(*program)) == -1)
		return false;
	for (i = 0; i < SPAWN_CHANNEL; i++)
		if (dup2(nothing, i) == -1)
			return false;
	if (dup2(talk, SPAWN_CHANNEL) == -1 || dup2(slot, SPAWN_SLOT) == -1 || dup2(nothing, SPAWN_PROC) == -1 ||
	    dup3(*program, SPAWN_PROGRAM, O_CLOEXEC) == -1)
		return false;
	*program = SPAWN_PROGRAM;
	file_forget_root();
	procdir_forget();
	state_forget();
	return syscall(SYS_close_range, SPAWN_PROGRAM + 1U, ~0U, 0U) == 0;
}

/* Mounting takes time, so this waits until the program is needed. */
static void
add_proc(void)
{
	autoclose int proc = own_proc();

	if (proc != -1)
		(void)dup2(proc, SPAWN_PROC);
}

/* Makes this process end when its parent ends, or at once if the parent has ended already. */
static void
end_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(WHY_BUG);
}

/* If the program is to have capabilities, they go through the change of ids and the exec (capability.h). */
static bool
become_user(const struct spawned *p)
{
	return (p->n == 0 || capabilities_begin_pass(p->kept, p->n)) && ids_become(p->uid, p->gid) &&
	    (p->n == 0 || capabilities_pass(p->kept, p->n));
}

static _Noreturn void
become(const struct spawned *p, int program, int channel, pid_t parent)
{
	char *const argv[] = { (char *)(uintptr_t)p->name, NULL }, *const envp[] = { NULL };
	char first;

	end_with(parent);
	if (!set_descriptors(channel, &program) || recv(SPAWN_CHANNEL, &first, 1, 0) != 1)
		_exit(WHY_BUG);
	if (p->own_proc)
		add_proc();
	if (p->own_user) {
		if (!become_user(p))
			_exit(WHY_BUG);
		/* the kernel resets PR_SET_PDEATHSIG when the ids change */
		end_with(parent);
	}
	(void)fexecve(program, argv, envp);
	_exit(WHY_BUG);
}

static struct spawned *started[FILTER_CHILDREN_MAX];
static size_t starts;

size_t
spawned_pids(uint32_t pid[FILTER_CHILDREN_MAX])
{
	size_t i;

	for (i = 0; i < starts; i++)
		pid[i] = (uint32_t)started[i]->pid;
	return starts;
}

bool
spawned_move(bool (*move)(int ctx, pid_t process), int ctx)
{
	size_t i;

	for (i = 0; i < starts; i++)
		if (started[i]->moves && started[i]->pid != 0 && !move(ctx, started[i]->pid))
			return false;
	return true;
}

/* Finds the program's user. Changing to it takes CAP_SETUID and CAP_SETGID, and ending the program takes CAP_KILL. */
static int
find_user(struct spawned *p)
{
	if (prctl(PR_CAPBSET_READ, CAP_SETUID) == 1 && prctl(PR_CAPBSET_READ, CAP_SETGID) == 1 &&
	    prctl(PR_CAPBSET_READ, CAP_KILL) == 1)
		return own_program_user(p->name, &p->uid, &p->gid, &p->why);
	return refuse(&p->why, WHY_CONFIG, "%s can't run as a user of its own: the process that asks has no CAP_SETUID, "
	    "CAP_SETGID or CAP_KILL in its bounding set: use gpuhelper.socket", p->name);
}

void
spawned_start(struct spawned *p)
{
	autoclose int file = -1;
	const pid_t us = getpid();
	int pair[2];

	if (own_program_find(p->file != NULL ? p->file : p->name, &file, &p->why) == -1 || (p->own_user && find_user(p) == -1))
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1) {
		refuse(&p->why, WHY_AGAIN, "socketpair: %s", strerror(errno));
		return;
	}
	if ((p->pid = fork()) == 0)
		become(p, file, pair[1], us);
	close(pair[1]);
	if (p->pid == -1) {
		refuse(&p->why, WHY_AGAIN, "can't start %s: %s: raise the limit on processes (ulimit, pids.max) and try again",
		    p->name, strerror(errno));
		p->pid = 0;
		close(pair[0]);
	} else {
		p->channel = pair[0];
		if (starts < FILTER_CHILDREN_MAX)
			started[starts++] = p;
	}
}

/* A program that waits for a question ends once its channel is shut down, and its end of the channel is closed then. */
static void
end_program(struct spawned *p)
{
	const struct timespec moment = { .tv_nsec = 100000 };
	struct pollfd end = { .fd = p->channel };
	int64_t until;

	if (p->pid == 0)
		return;
	if (!p->slow && shutdown(p->channel, SHUT_WR) == 0)
		(void)poll(&end, 1, END_MS);
	/* even if the program closed its channel: it may still run */
	(void)kill(p->pid, SIGKILL);
	close(p->channel);
	p->channel = -1;
	until = clock_ms() + END_MS;
	while (waitpid(p->pid, NULL, WNOHANG) == 0 && clock_ms() < until)
		(void)nanosleep(&moment, NULL);
	p->pid = 0;
}

void
spawned_end_all(void)
{
	size_t i;

	for (i = 0; i < starts; i++)
		end_program(started[i]);
}

int
spawned_give_up(struct spawned *p, const struct why *why)
{
	end_program(p);
	p->why = *why;
	return -1;
}

int
spawned_check(const struct spawned *p, struct why *why)
{
	if (p->channel != -1)
		return 0;
	if (p->why.code == WHY_NONE)
		return refuse(why, WHY_BUG, "%s was not started", p->name);
	*why = p->why;
	return -1;
}

void
spawned_exec(struct spawned *p)
{
	if (p->channel != -1 && !p->executing)
		p->executing = frame_send_byte(p->channel, 0) == 0;
}

static int
refuse_silent(struct spawned *p, struct why *why)
{
	const struct why cause = *why;

	refuse(why, cause.code == WHY_BUG ? WHY_BUG : WHY_AGAIN, "%s did not answer: see whether the kernel's log says why, "
	    "and try again (%.100s)", p->name, cause.text);
	return spawned_give_up(p, why);
}

int
spawned_ask(struct spawned *p, const char *question, size_t asked, struct why *why)
{
	if (spawned_check(p, why) == -1)
		return -1;
	spawned_exec(p);
	return frame_write(p->channel, question, asked, p->ask_max, SEND_MS, why) == 0 ? 0 : refuse_silent(p, why);
}

char *
spawned_receive(struct spawned *p, int ms, size_t *len, struct why *why)
{
	char *answer = spawned_check(p, why) == 0 ? frame_read(p->channel, p->answer_max, ms, len, why) : NULL;

	if (answer == NULL && p->channel != -1)
		(void)refuse_silent(p, why);
	return answer;
}
