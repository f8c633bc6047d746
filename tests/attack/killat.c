/*
 * Kills a helper at a chosen system call.
 *
 *	killat USER REQUEST HELPER N [all|changes|locked [CGROUP...]]
 *
 * Runs as root.  USER asks the helper for what the file REQUEST (a whole frame) contains.  killat kills the helper
 * before its Nth system call after execve(2): of all calls, of those that change something, or of those made under
 * the lock.  Prints «killed», or «N calls» if the helper ended first.  The client ends with the helper, so its lease
 * is over.
 *
 * With cgroups the helper starts in them, and is not killed: at that call killat prints «at PID», and detaches at the
 * next line of standard input.  At the end of its input killat kills the helper; until then the caller undoes its
 * changes to the cgroups.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

/* Sends, receives, confirms, like gpuhelper-runc. */
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

/* Calls that change something on the host, or for the client. */
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

/* From the request for the lock until its descriptor is closed.  A place in the crowd, which nobody waits for, does not count. */
static int
is_locked(const struct __ptrace_syscall_info *info)
{
	static unsigned long long lock;
	static int locked;
	const int was = locked;

	if (info->entry.nr == SYS_flock && (info->entry.args[1] & LOCK_NB) == 0) {
		lock = info->entry.args[0];
		locked = 1;
	} else if (info->entry.nr == SYS_close && info->entry.args[0] == lock)
		locked = 0;
	return was;
}

static int
counts(pid_t h, const char *which)
{
	struct __ptrace_syscall_info info = { 0 };
	size_t i;

	if (strcmp(which, "all") == 0)
		return 1;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, h, sizeof(info), &info) == -1 || info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return 0;
	if (strcmp(which, "locked") == 0)
		return is_locked(&info);
	for (i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
		if (info.entry.nr == (unsigned long)changing[i])
			return 1;
	return 0;
}

static void
put_into(const char *cgroup, pid_t pid)
{
	char path[4096], text[16];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	snprintf(text, sizeof(text), "%d", pid);
	if ((fd = open(path, O_WRONLY)) == -1 || write(fd, text, strlen(text)) == -1)
		die(path);
	close(fd);
}

static void
stand_by(pid_t h)
{
	char line[16];

	printf("at %d\n", h);
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin) == NULL || ptrace(PTRACE_DETACH, h, 0, 0) == -1)
		die("letting go");
	while (fgets(line, sizeof(line), stdin) != NULL)
		;
	/* it may have ended already */
	kill(h, SIGKILL);
}

int
main(int argc, char **argv)
{
	const struct passwd *pw = argc >= 5 ? getpwnam(argv[1]) : NULL;
	long calls = 0, at = argc >= 5 ? atol(argv[4]) : 0;
	const char *which = argc > 5 ? argv[5] : "all";
	int st, tell[2], counting = 0, entry = 0;	/* the first stop is the return from execve */
	pid_t a, h;
	int i;

	if (pw == NULL || pipe2(tell, O_CLOEXEC) == -1)
		die("usage");
	if ((a = fork()) == 0)
		asker(pw, argv[2], argv[3], tell[1]);
	if (read(tell[0], &h, sizeof(h)) != sizeof(h) || ptrace(PTRACE_SEIZE, h, 0,
	    PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) == -1)
		die("ptrace");
	for (i = 6; i < argc; i++)
		put_into(argv[i], h);
	kill(h, SIGCONT);
	while (waitpid(h, &st, __WALL) == h && WIFSTOPPED(st)) {
		if (st >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			counting = 1;
		else if (counting && WSTOPSIG(st) == (SIGTRAP | 0x80)) {
			if (entry && counts(h, which) && ++calls == at) {
				if (argc > 6) {
					stand_by(h);
					waitpid(a, NULL, 0);
					return 0;
				}
				kill(h, SIGKILL);
			}
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
