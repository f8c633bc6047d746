/*
 * killat USER REQUEST HELPER N [changes]: as root, has USER ask the helper for what is in the file REQUEST (a whole
 * frame), and kills the helper before its Nth system call after execve(2), or its Nth one that changes something.
 * Prints «killed», or «N calls» where it ended first.  The asker ends with it, so that what it asked for is over.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>	/* struct __ptrace_syscall_info: glibc's name for it */
#include <sys/socket.h>
#include <sys/syscall.h>
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

/* On the host, or to the asker. */
static const long changing[] = {
	SYS_mknodat, SYS_fchownat, SYS_fchmodat, SYS_fchown, SYS_fchmod, SYS_linkat, SYS_unlinkat, SYS_renameat2,
	SYS_mkdirat, SYS_ftruncate, SYS_utimensat, SYS_write, SYS_sendto, SYS_flock, SYS_exit_group,
#ifdef SYS_renameat
	SYS_renameat,
#endif
#ifdef SYS_mknod
	SYS_mknod, SYS_chown, SYS_chmod, SYS_link, SYS_unlink, SYS_rename, SYS_mkdir,
#endif
};

static int
counts(pid_t h, int all)
{
	struct __ptrace_syscall_info info = { 0 };
	size_t i;

	if (all)
		return 1;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, h, sizeof(info), &info) == -1 || info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return 0;
	for (i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
		if (info.entry.nr == (unsigned long)changing[i])
			return 1;
	return 0;
}

int
main(int argc, char **argv)
{
	const struct passwd *pw = argc >= 5 ? getpwnam(argv[1]) : NULL;
	long calls = 0, at = argc >= 5 ? atol(argv[4]) : 0;
	int st, tell[2], counting = 0, entry = 0;	/* the first stop is the way out of execve */
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
			if (entry && counts(h, argc == 5) && ++calls == at)
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
