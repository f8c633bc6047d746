/*
 * See parsedfiles.h. Runs as the host's root. Only reads, and starts gpuhelper-read, which gives root's ids up and
 * confines itself before it reads anything.
 */
#include "parsedfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../ask/readquery.h"
#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/own/exchange.h"
#include "../../host/own/exchangeread.h"
#include "../../host/own/frame.h"
#include "../../host/own/ownprogram.h"
#include "../../host/trust.h"

#define PROGRAM "gpuhelper-read"
#define CACHE GPUHELPER_RUNDIR "/read"
#define ASK_MS 2000
#define ANSWER_MS 8000	/* an answer takes milliseconds, unless the machine is busy */

/* gpuhelper-read, its fstat(2), and the directory of the answer cache: opened at the first question. */
static int program = -1, cache = -1;
static struct stat program_is;

static _Noreturn void
become_program(int channel, pid_t parent)
{
	char *const argv[] = { (char *)(uintptr_t)PROGRAM, NULL }, *const envp[] = { NULL };
	const int null = open("/dev/null", O_RDWR), file = fcntl(program, F_DUPFD_CLOEXEC, READ_CHANNEL + 1);
	int i;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(WHY_BUG);
	for (i = 0; i < READ_CHANNEL; i++)
		if (null == -1 || dup2(null, i) == -1)
			_exit(WHY_BUG);
	if (file == -1 || dup2(channel, READ_CHANNEL) == -1)
		_exit(WHY_BUG);
	if (file > READ_CHANNEL + 1 && syscall(SYS_close_range, READ_CHANNEL + 1U, (unsigned)file - 1U, 0U) == -1)
		_exit(WHY_BUG);
	if (syscall(SYS_close_range, (unsigned)file + 1U, ~0U, 0U) == -1)
		_exit(WHY_BUG);
	(void)fexecve(file, argv, envp);
	_exit(WHY_BUG);
}

/* Has the program answer x->question. */
static int
ask_program(struct exchange *x, struct why *why)
{
	const pid_t parent = getpid();
	int pair[2], status;
	struct why inner;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return refuse(why, WHY_AGAIN, "socketpair: %s", strerror(errno));
	if ((pid = fork()) == 0)
		become_program(pair[1], parent);
	close(pair[1]);
	if (pid == -1) {
		close(pair[0]);
		return refuse(why, WHY_AGAIN, "can't start " PROGRAM ": %s", strerror(errno));
	}
	if (frame_write(pair[0], x->question, x->asked, READ_QUERY_MAX, ASK_MS, &inner) == 0)
		x->answer = frame_read(pair[0], READ_ANSWER_MAX, ANSWER_MS, &x->len, &inner);
	close(pair[0]);
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	return x->answer != NULL ? 0 : refuse(why, WHY_BUG, PROGRAM " did not answer: %s", inner.text);
}

/* The helper's own_program_find() also compares its view of the host with that of process 1. */
static int
find_program(struct stat *st, struct why *why)
{
	autoclose int dir = -1;
	int fd, opened;

	if (trust_pin_dir(GPUHELPER_LIBEXEC, true, &dir, why) != TRUST_FOUND ||
	    (opened = own_program_open(dir, PROGRAM, &fd, why)) == -1)
		return -1;
	if (opened == 0 && fstat(fd, st) == 0)
		return fd;
	if (opened == 0)
		close(fd);
	return refuse(why, WHY_CONFIG, GPUHELPER_LIBEXEC "/" PROGRAM " is not root's alone: install it again (make install)");
}

/* Gets the answer to x->question. */
static int
find_answer(const char *name, struct exchange *x, struct why *why)
{
	struct why ignored;

	if (program == -1) {
		if ((program = find_program(&program_is, why)) == -1)
			return -1;
		cache = trust_open_dir(CACHE, true, &ignored);
	}
	return cache != -1 && exchange_find(cache, name, &program_is, x) ? 0 : ask_program(x, why);
}

void
parsed_files_end(void)
{
	if (program != -1)
		close(program);
	if (cache != -1)
		close(cache);
	program = cache = -1;
}

int
parsed_files_policies(struct policy_set *p, struct why *why)
{
	autoexchange struct exchange x = { .question = NULL };
	autosettings struct settings unused = { .runtime = NULL };
	bool malformed;

	*p = (struct policy_set){ .n = 0 };
	if (exchange_ask_policies(&x, why) == -1 || find_answer(EXCHANGE_POLICIES, &x, why) == -1)
		return -1;
	return exchange_read_policies(&x, &unused, p, &malformed, why);
}

int
parsed_files_specs(struct cdi_registry *r, struct why *why)
{
	autoexchange struct exchange x = { .question = NULL };
	autospecfiles struct spec_files files = { 0 };
	bool malformed;

	*r = (struct cdi_registry){ 0 };
	if (spec_files_read(CDI_DIRS, true, &files, why) == -1)
		return -1;
	if (files.n > 0 &&
	    (exchange_ask_specs(&files, &x, why) == -1 || find_answer(EXCHANGE_SPECS, &x, why) == -1))
		return -1;
	if (cdi_registry_adopt(r, &files, why) == -1 ||
	    (r->files > 0 && exchange_read_specs(x.answer, x.len, r, &malformed, why) == -1))
		return -1;
	return cdi_registry_finish(r, true, why);
}
