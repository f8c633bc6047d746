/*
 * stopat PID NAME N: traces a helper that waits in a system call, until it is about to open a path that contains NAME
 * for the Nth time.  Prints «at», stops the helper, and lets it go on after a line of standard input.  Prints «ended»
 * if the helper ended first.  Runs as root.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>	/* struct __ptrace_syscall_info: glibc's name for it */
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

static pid_t pid;

static void
die(const char *what)
{
	fprintf(stderr, "stopat: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* Whether the name is part of the path that is about to be opened. */
static int
opens(const char *name)
{
	struct __ptrace_syscall_info info = { 0 };
	char there[256] = "", *part, *save = NULL;
	struct iovec to = { there, sizeof(there) - 1 }, from = { NULL, sizeof(there) - 1 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) == -1 || info.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    info.entry.nr != SYS_openat)
		return 0;
	from.iov_base = (void *)(unsigned long)info.entry.args[1];
	/* up to the end of the path's page */
	while (process_vm_readv(pid, &to, 1, &from, 1, 0) <= 0)
		if ((to.iov_len = from.iov_len /= 2) == 0)
			return 0;
	for (part = strtok_r(there, "/", &save); part != NULL; part = strtok_r(NULL, "/", &save))
		if (strcmp(part, name) == 0)
			return 1;
	return 0;
}

int
main(int argc, char **argv)
{
	long at = argc == 4 ? atol(argv[3]) : 0;
	char line[16];
	int st, sig;

	if (at <= 0 || strlen(argv[2]) > 255)
		return 2;
	pid = atoi(argv[1]);
	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD) == -1 || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == -1)
		die("ptrace");
	puts("traced");
	fflush(stdout);
	while (waitpid(pid, &st, __WALL) == pid && WIFSTOPPED(st)) {
		sig = WSTOPSIG(st);
		if (sig == (SIGTRAP | 0x80) && opens(argv[2]) && --at == 0) {
			puts("at");
			fflush(stdout);
			if (fgets(line, sizeof(line), stdin) == NULL || ptrace(PTRACE_DETACH, pid, NULL, NULL) == -1)
				die("letting go");
			return 0;
		}
		if (ptrace(PTRACE_SYSCALL, pid, NULL, sig == (SIGTRAP | 0x80) || st >> 16 != 0 ? 0L : (long)sig) == -1)
			die("going on");
	}
	puts("ended");
	return 0;
}
