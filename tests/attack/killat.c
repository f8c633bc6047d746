/*
 * killat USER REQUEST HELPER N: as root, has USER ask the helper for what is in the file REQUEST (a whole frame),
 * and kills the helper at its Nth system call after execve(2).  Prints «killed», or «N calls» where it ended first.
 * The asker ends with it, so that what it asked for is over.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void
die(const char *what)
{
	fprintf(stderr, "killat: %s: %s\n", what, strerror(errno));
	exit(125);
}

static void
start(int sock, const char *helper)
{
	dup2(sock, 0);
	raise(SIGSTOP);
	execl(helper, "gpuhelper", (char *)NULL);
	_exit(125);
}

/* Sends, hears, makes it final: what gpuhelper-runc does. */
static void
converse(int sock, const char *file)
{
	static char buf[1 << 20];
	int fd = open(file, O_RDONLY);
	ssize_t n = read(fd, buf, sizeof(buf));

	(void)!send(sock, buf, (size_t)n, MSG_NOSIGNAL);
	if (recv(sock, buf, 12, MSG_WAITALL) == 12) {
		n = ((unsigned char)buf[10] << 8) + (unsigned char)buf[11];
		if (recv(sock, buf, (size_t)n, MSG_WAITALL) == n)
			(void)!send(sock, "W", 1, MSG_NOSIGNAL);
	}
}

static void
asker(const struct passwd *pw, const char *request, const char *helper, int tell)
{
	int sv[2];
	pid_t h;

	if (initgroups(pw->pw_name, pw->pw_gid) == -1 || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) == -1 ||
	    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) == -1 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) == -1)
		die("becoming the user");
	if ((h = fork()) == 0)
		start(sv[1], helper);
	close(sv[1]);
	waitpid(h, NULL, WUNTRACED);
	(void)!write(tell, &h, sizeof(h));
	converse(sv[0], request);
	waitpid(h, NULL, 0);
	_exit(0);
}

int
main(int argc, char **argv)
{
	const struct passwd *pw = argc == 5 ? getpwnam(argv[1]) : NULL;
	long calls = 0, at = argc == 5 ? atol(argv[4]) : 0;
	int st, tell[2], counting = 0, entry = 1;
	pid_t a, h;

	if (pw == NULL || pipe2(tell, O_CLOEXEC) == -1)
		die("usage");
	if ((a = fork()) == 0)
		asker(pw, argv[2], argv[3], tell[1]);
	if (read(tell[0], &h, sizeof(h)) != sizeof(h) || ptrace(PTRACE_SEIZE, h, 0,
	    PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) == -1)
		die("ptrace");
	kill(h, SIGCONT);
	while (waitpid(h, &st, __WALL) == h && WIFSTOPPED(st)) {
		if (st >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			counting = 1;
		else if (counting && WSTOPSIG(st) == (SIGTRAP | 0x80)) {
			if (entry && ++calls == at)
				kill(h, SIGKILL);
			entry = !entry;
		}
		ptrace(counting ? PTRACE_SYSCALL : PTRACE_CONT, h, 0,
		    st >> 16 == 0 && WSTOPSIG(st) != SIGTRAP && WSTOPSIG(st) != (SIGTRAP | 0x80) &&
		    WSTOPSIG(st) != SIGSTOP ? WSTOPSIG(st) : 0);
	}
	waitpid(a, NULL, 0);
	if (WIFSIGNALED(st))
		printf("killed\n");
	else
		printf("%ld calls\n", calls);
	return 0;
}
