/*
 * Makes one thing go wrong in a helper at a chosen point.
 *
 *	faultat USER REQUEST HELPER [hangup] [blind] [LIBRARY]
 *
 * Runs as root.  USER asks the helper for what the file REQUEST (a whole frame) contains, again and again.  Each line
 * of standard input is one such request:
 *
 *	CLASS N ERRNO[+]
 *
 * The helper is killed before its Nth system call of CLASS since its execve(2) (ERRNO 0), or that call fails with
 * ERRNO without being made; with a + all later calls of the class fail, too.  CLASS is one of those below, «any»,
 * «none» (the helper is not traced), «malloc» (nomem.c does the counting), or the name of a child: then all calls of
 * that child count, and the helper's do not.  With «short» the Nth call transfers half of its bytes, and the calls
 * after it fail.  Each request gets one line in reply:
 *
 *	exit|signal STATUS CALLS HEARD LOG SAID HIT REPLY
 *
 * CALLS	the calls of the class
 * HEARD, LOG, SAID	the count when the helper began to read its request, to open its log, and to write its reply (-1: it
 *		did not; with malloc, LOG is 0 if the log came first)
 * HIT		whether the Nth call came (2: in libconfig)
 * REPLY	the client's reply, - for none
 *
 * The client confirms a grant, or hangs up, and then stays until a line «end».  With «blind», HEARD, LOG and SAID are
 * not counted.  To count them, faultat also stops the looker at many calls, and a slow machine's looker would run out
 * of time.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>	/* struct __ptrace_syscall_info: glibc's name for it */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* What may go wrong; «change» is everything that changes something on the host. */
#define CHANGE(class) class " change "
static const struct {
	long nr;
	const char *classes;
} calls[] = {
#define C(name, classes) { SYS_##name, " " classes " " }
	C(openat, "open"), C(openat2, "open"),
	C(read, "read"), C(pread64, "read"), C(getdents64, "read"), C(newfstatat, "read"), C(statx, "read"),
	C(fstat, "read"), C(statfs, "read"), C(fstatfs, "read"), C(faccessat, "read"), C(faccessat2, "read"),
	C(readlinkat, "read"), C(recvfrom, "read"),
	C(write, CHANGE("write short")), C(pwrite64, CHANGE("write short")), C(writev, CHANGE("write")),
	C(fsync, CHANGE("write sync")), C(fdatasync, CHANGE("write sync")), C(sendto, CHANGE("write")),
	C(renameat2, CHANGE("rename")), C(linkat, CHANGE("rename")), C(symlinkat, CHANGE("rename")),
	C(mkdirat, CHANGE("make")), C(mknodat, CHANGE("make")), C(fchown, CHANGE("make")), C(fchownat, CHANGE("make")),
	C(fchmod, CHANGE("make")), C(fchmodat, CHANGE("make")), C(utimensat, CHANGE("make")),
	C(ftruncate, CHANGE("make")),
	C(unlinkat, CHANGE("remove")),
	C(setxattr, CHANGE("xattr setxattr")), C(lsetxattr, CHANGE("xattr setxattr")),
	C(fsetxattr, CHANGE("xattr setxattr")), C(removexattr, CHANGE("xattr setxattr")),
	C(lremovexattr, CHANGE("xattr setxattr")), C(fremovexattr, CHANGE("xattr setxattr")),
	C(getxattr, "xattr"), C(lgetxattr, "xattr"), C(fgetxattr, "xattr"),
	C(mmap, "memory"), C(mremap, "memory"), C(brk, "memory"),
	C(flock, CHANGE("lock")), C(exit_group, CHANGE("")),
#ifdef SYS_renameat
	C(renameat, CHANGE("rename")),
#endif
#ifdef SYS_open	/* x86-64 has two of many */
	C(open, "open"), C(stat, "read"), C(lstat, "read"), C(access, "read"), C(readlink, "read"),
	C(rename, CHANGE("rename")), C(link, CHANGE("rename")), C(symlink, CHANGE("rename")), C(mkdir, CHANGE("make")),
	C(mknod, CHANGE("make")), C(chown, CHANGE("make")), C(lchown, CHANGE("make")), C(chmod, CHANGE("make")),
	C(unlink, CHANGE("remove")), C(rmdir, CHANGE("remove")),
#endif
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* One request, and its result. */
struct point {
	char class[16];		/* with a space on both sides */
	long at;
	int error;
	int on;
	int status;
	long n, heard, log, said;
	int hit;
};

/* The client, and its request. */
struct ask {
	const struct passwd *pw;
	char *request;
	size_t len;
	const char *helper, *library;
	int hangup, blind;
};

/* Pipes between the client and us: .tell from it, .go to its helper. */
struct pipes {
	int tell[2], go[2], error[2];
};

static char reply[(1 << 20) + 16];

static void
die(const char *what)
{
	fprintf(stderr, "faultat: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* The helper's children count from the moment when they have their name. */
static const struct {
	const char *class, *program;
} children[] = {
	{ " looker ", "gpuhelper-look" }, { " reader ", "gpuhelper-read" }, { " judge ", "gpuhelper-judge" },
	{ " engine ", "gpuhelper-engine" },
};
#define CHILDREN ((int)(sizeof(children) / sizeof(children[0])))

/* -1: the helper itself */
static int
child_of_class(const char *class)
{
	int i = CHILDREN - 1;

	while (i >= 0 && strcmp(children[i].class, class) != 0)
		i--;
	return i;
}

#define NO_CHILD (-2)

/* By its name (prctl(2), PR_SET_NAME; root/self/confine.c). */
static int
child_of_pid(pid_t pid)
{
	char path[40], name[32] = "";
	int fd, i = CHILDREN - 1;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) != -1) {
		(void)!read(fd, name, sizeof(name) - 1);
		close(fd);
	}
	name[strcspn(name, "\n")] = '\0';
	/* the kernel keeps 15 bytes of a name */
	while (i >= 0 && strncmp(children[i].program, name, 15) != 0)
		i--;
	return i >= 0 ? i : NO_CHILD;
}

static int
in_class(long nr, const char *class)
{
	size_t i;

	if (strcmp(class, " any ") == 0 || child_of_class(class) != -1)
		return 1;
	for (i = 0; i < CALLS; i++)
		if (calls[i].nr == nr)
			return strstr(calls[i].classes, class) != NULL;
	return 0;
}

/* Stops only at the calls that matter, which is many times faster than PTRACE_SYSCALL. */
static void
stop_at(const char *class, int blind)
{
	const struct sock_filter stop = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	const struct sock_filter go = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_filter f[2 * CALLS + 8], *p = f;
	struct sock_fprog prog = { .filter = f };
	size_t i;

	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (i = 0; i < CALLS; i++)
		if (in_class(calls[i].nr, class) || (!blind && (calls[i].nr == SYS_recvfrom || calls[i].nr == SYS_openat ||
		    calls[i].nr == SYS_sendto))) {
			*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].nr, 0, 1);
			*p++ = stop;
		}
	*p++ = in_class(-1, class) ? stop : go;
	prog.len = (unsigned short)(p - f);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == -1)
		die("seccomp");
}

/* Becomes the helper.  Stays root until the filter is set, so that this needs no no_new_privs. */
static void
start(const struct ask *a, const struct point *p, const struct pipes *io, int sock)
{
	uid_t uid = a->pw->pw_uid;
	char preload[256], count[32], *env[] = { preload, count, NULL };
	char c;

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", a->library != NULL ? a->library : "");
	snprintf(count, sizeof(count), "NOMEM=%ld%s", p->at, p->on ? "+" : "");
	if (strcmp(p->class, " malloc ") != 0)
		env[0] = NULL;
	if (strcmp(p->class, " none ") != 0 && strcmp(p->class, " malloc ") != 0) {
		if (read(io->go[0], &c, 1) != 1 || setresuid(uid, 0, 0) == -1)
			die("waiting to be traced");
		stop_at(p->class, a->blind);
	}
	if (setresuid(uid, uid, uid) == -1)
		die("becoming the user");
	dup2(sock, 0);
	dup2(io->error[1], 1);
	dup2(io->error[1], 2);
	execle(a->helper, "gpuhelper", (char *)NULL, env);
	_exit(125);
}

/* Sends, receives, confirms, like gpuhelper-runc; returns the reply's length. */
static size_t
converse(const struct ask *a, int sock)
{
	char head[12];
	size_t n = 0;

	(void)!send(sock, a->request, a->len, MSG_NOSIGNAL);
	if (recv(sock, head, 12, MSG_WAITALL) == 12) {
		n = ((size_t)(unsigned char)head[9] << 16) + ((size_t)(unsigned char)head[10] << 8) + (unsigned char)head[11];
		if (n > sizeof(reply) || recv(sock, reply, n, MSG_WAITALL) != (ssize_t)n)
			n = 0;
		else if (!a->hangup)
			(void)!send(sock, "W", 1, MSG_NOSIGNAL);
	}
	close(sock);
	return n;
}

static void
asker(const struct ask *a, const struct point *p, const struct pipes *io)
{
	const struct passwd *pw = a->pw;
	int sv[2], status = 0;
	size_t n;
	pid_t h;

	if (initgroups(pw->pw_name, pw->pw_gid) == -1 || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) == -1 ||
	    setresuid(pw->pw_uid, pw->pw_uid, 0) == -1 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) == -1)
		die("becoming the user");
	if ((h = fork()) == 0)
		start(a, p, io, sv[1]);
	close(sv[1]);
	if (setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) == -1 || prctl(PR_SET_PDEATHSIG, SIGKILL) == -1)
		die("becoming the user");
	(void)!write(io->tell[1], &h, sizeof(h));
	n = converse(a, sv[0]);
	waitpid(h, &status, 0);
	(void)!write(io->tell[1], &status, sizeof(status));
	(void)!write(io->tell[1], &n, sizeof(n));
	(void)!write(io->tell[1], reply, n);
	for (;;)
		pause();
}

#if defined(__x86_64__)
#define ARG0 rdi
#define ARG2 rdx
#define RESULT rax
#define KEEPS_ARG0 1	/* the register keeps its value */
#elif defined(__aarch64__)
#define ARG0 regs[0]
#define ARG2 regs[2]
#define RESULT regs[0]
#define KEEPS_ARG0 0
#endif

static void
get(pid_t h, struct user_regs_struct *regs)
{
	struct iovec v = { regs, sizeof(*regs) };

	if (ptrace(PTRACE_GETREGSET, h, NT_PRSTATUS, &v) == -1)
		die("PTRACE_GETREGSET");
}

static void
set(pid_t h, struct user_regs_struct *regs)
{
	struct iovec v = { regs, sizeof(*regs) };

	if (ptrace(PTRACE_SETREGSET, h, NT_PRSTATUS, &v) == -1)
		die("PTRACE_SETREGSET");
}

/*
 * brk(2) has no error value: if it fails it returns the present break, as for the argument 0.  The C library compares
 * that with its argument, in a register that the call leaves unchanged.
 */
static void
fail_brk(pid_t h)
{
	struct user_regs_struct regs;
	unsigned long asked;
	int st;

	get(h, &regs);
	asked = regs.ARG0;
	regs.ARG0 = 0;
	set(h, &regs);
	if (ptrace(PTRACE_SYSCALL, h, 0, 0) == -1 || waitpid(h, &st, __WALL) != h || !WIFSTOPPED(st))
		die("PTRACE_SYSCALL");
	get(h, &regs);
	if (KEEPS_ARG0)
		regs.ARG0 = asked;
	set(h, &regs);
}

/* Makes h's next call fail, without making it. */
static void
fail(pid_t h, long nr, int error)
{
	struct user_regs_struct regs;

	if (nr == SYS_brk) {
		fail_brk(h);
		return;
	}
	get(h, &regs);
	regs.RESULT = (unsigned long)-error;
#if defined(__x86_64__)
	regs.orig_rax = (unsigned long)-1;
#elif defined(__aarch64__)
	int none = -1;
	struct iovec call = { &none, sizeof(none) };

	if (ptrace(PTRACE_SETREGSET, h, NT_ARM_SYSTEM_CALL, &call) == -1)
		die("NT_ARM_SYSTEM_CALL");
#endif
	set(h, &regs);
}

/* The call is made for half of its bytes, as on a disk that becomes full. */
static void
shorten(pid_t h)
{
	struct user_regs_struct regs;

	get(h, &regs);
	regs.ARG2 /= 2;
	set(h, &regs);
}

/* Asks for memory; mappings of other things do not count. */
static int
counts(const struct __ptrace_syscall_info *info, const struct point *p)
{
	if (!in_class((long)info->seccomp.nr, p->class))
		return 0;
	if (strcmp(p->class, " memory ") != 0)
		return 1;
	return info->seccomp.nr == SYS_mmap ? (info->seccomp.args[3] & MAP_ANONYMOUS) != 0 :
	    info->seccomp.nr != SYS_brk || info->seccomp.args[0] != 0;
}

static int
opens_log(pid_t h, unsigned long path)
{
	char name[sizeof("audit.jsonl")];
	struct iovec to = { name, sizeof(name) }, from = { (void *)path, sizeof(name) };

	return process_vm_readv(h, &to, 1, &from, 1, 0) == sizeof(name) && memcmp(name, "audit.jsonl", sizeof(name)) == 0;
}

static void
note(pid_t h, const struct __ptrace_syscall_info *info, struct point *p)
{
	/* bytes that are only peeked at (root/enter/enter.c) do not count as heard */
	if (info->seccomp.nr == SYS_recvfrom && (info->seccomp.args[3] & MSG_PEEK) == 0 && p->heard == -1)
		p->heard = p->n;
	if (info->seccomp.nr == SYS_sendto && p->said == -1)
		p->said = p->n;
	if (info->seccomp.nr == SYS_openat && p->log == -1 && opens_log(h, info->seccomp.args[1]))
		p->log = p->n;
}

/* Before a call of the helper's, or of the chosen child's. */
static void
at_call(pid_t h, int is_child, struct point *p)
{
	struct __ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, h, sizeof(info), &info) == -1 || info.op != PTRACE_SYSCALL_INFO_SECCOMP) {
		/* the kernel kills it with the helper, or when its time is over */
		if (is_child)
			return;
		die("PTRACE_GET_SYSCALL_INFO");
	}
	if (!is_child)
		note(h, &info, p);
	if ((is_child ? child_of_pid(h) : -1) != child_of_class(p->class) || !counts(&info, p))
		return;
	if (++p->n == p->at)
		p->hit = 1;
	if (p->n == p->at && p->error == 0)
		kill(h, SIGKILL);
	else if (p->n == p->at && strcmp(p->class, " short ") == 0)
		shorten(h);
	else if (p->n == p->at || (p->hit && p->on))
		fail(h, (long)info.seccomp.nr, p->error);
}

/* With its children, until all have ended. */
static void
follow(pid_t h, struct point *p)
{
	int st, event, counting = 0, others = 0, over = 0;
	pid_t pid;

	while ((!over || others > 0) && (pid = waitpid(-1, &st, __WALL)) > 0) {
		event = st >> 16;
		if (!WIFSTOPPED(st)) {
			if (pid == h)
				over = 1;
			else
				others--;
			continue;
		}
		if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_CLONE)
			others++;
		else if (event == PTRACE_EVENT_EXEC)
			counting = 1;
		else if (event == PTRACE_EVENT_SECCOMP && counting)
			at_call(pid, pid != h, p);
		/* the stop that begins the tracing of a child is no signal */
		ptrace(PTRACE_CONT, pid, 0, event == 0 ? WSTOPSIG(st) : 0);
	}
}

static void
must_read(int fd, void *buf, size_t len)
{
	char *p = buf;
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n)
		if ((n = read(fd, p, len)) <= 0)
			die("the asker is gone");
}

static void
print(const struct point *p, const char *text, size_t len)
{
	printf("%s %d %ld %ld %ld %ld %d %.*s\n", WIFSIGNALED(p->status) ? "signal" : "exit",
	    WIFSIGNALED(p->status) ? WTERMSIG(p->status) : WEXITSTATUS(p->status), p->n, p->heard, p->log, p->said, p->hit,
	    len > 0 ? (int)len : 1, len > 0 ? text : "-");
	fflush(stdout);
}

/* nomem.c's reports: that it failed an allocation, and whether the log was open before. */
static void
hear_library(int fd, struct point *p)
{
	char said[4096] = "";
	const char *hit, *log;

	if (read(fd, said, sizeof(said) - 1) <= 0 || (hit = strstr(said, "nomem")) == NULL)
		return;
	p->hit = 1;
	if ((log = strstr(said, "audit\n")) != NULL && log < hit)
		p->log = 0;
}

/* One request; the client stays. */
static pid_t
run(const struct ask *a, struct point *p)
{
	struct pipes io;
	size_t len;
	pid_t who, h;

	if (pipe2(io.tell, O_CLOEXEC) == -1 || pipe2(io.go, O_CLOEXEC) == -1 || pipe2(io.error, O_CLOEXEC | O_NONBLOCK) == -1)
		die("pipe");
	if ((who = fork()) == 0)
		asker(a, p, &io);
	close(io.tell[1]);
	close(io.error[1]);
	must_read(io.tell[0], &h, sizeof(h));
	if (strcmp(p->class, " none ") != 0 && strcmp(p->class, " malloc ") != 0) {
		if (ptrace(PTRACE_SEIZE, h, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
		    PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) == -1)
			die("ptrace");
		(void)!write(io.go[1], "", 1);
		follow(h, p);
	}
	must_read(io.tell[0], &p->status, sizeof(p->status));
	must_read(io.tell[0], &len, sizeof(len));
	must_read(io.tell[0], reply, len);
	hear_library(io.error[0], p);
	print(p, reply, len);
	close(io.tell[0]);
	close(io.go[0]);
	close(io.go[1]);
	close(io.error[0]);
	return who;
}

static char *
slurp(const char *path, size_t *len)
{
	static char buf[1 << 20];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd == -1 ? -1 : read(fd, buf, sizeof(buf));

	if (n == -1)
		die(path);
	close(fd);
	*len = (size_t)n;
	return buf;
}

int
main(int argc, char **argv)
{
	struct ask a = { .pw = argc >= 4 ? getpwnam(argv[1]) : NULL };
	char line[256], class[12], on;
	pid_t who = 0;
	int i;

	if (a.pw == NULL)
		die("usage");
	a.request = slurp(argv[2], &a.len);
	a.helper = argv[3];
	for (i = 4; i < argc; i++)
		if (strcmp(argv[i], "hangup") == 0)
			a.hangup = 1;
		else if (strcmp(argv[i], "blind") == 0)
			a.blind = 1;
		else
			a.library = argv[i];
	while (fgets(line, sizeof(line), stdin) != NULL) {
		struct point p = { .heard = -1, .log = -1, .said = -1 };

		if (who != 0) {
			kill(who, SIGKILL);
			waitpid(who, NULL, 0);
			who = 0;
		}
		if (strcmp(line, "end\n") == 0)
			puts("ended"), fflush(stdout);
		else if (sscanf(line, "%11s %ld %d%c", class, &p.at, &p.error, &on) == 4) {
			snprintf(p.class, sizeof(p.class), " %s ", class);
			p.on = on == '+';
			who = run(&a, &p);
		} else
			die(line);
	}
	if (who != 0)
		kill(who, SIGKILL);
	return 0;
}
