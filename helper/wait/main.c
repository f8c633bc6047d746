/*
 * gpuhelper-wait, the waiter: stands in front of a task's program inside the container, until root has given the
 * container its GPUs (ask/waiting.h). The wrapper's agent tells it what to print, and when to go on. Then it becomes
 * the program, in the same process.
 *
 * May assume nothing about the container: it runs from a sealed memory file, without a C library, and makes only
 * system calls that any program makes. Must leave to the program all that the runtime gave it: terminal, signals, ids,
 * limits, directory. Holds no right and no secret: whoever deceives it begins without a GPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../ask/waiting.h"
#include "system.h"

#define PATH_SIZE 4096
#define NOT_FOUND 127		/* the status of a runtime that can't find the program */
#define NOT_EXECUTED 126
#define USAGE 64
#define BAD_MESSAGE 70
#define PATIENCE_MS 1000	/* for a terminal or pipe that takes no line now */

/* The kernel's struct sigaction and signal set (rt_sigaction(2)); without a handler it needs no restorer. */
struct action {
	uintptr_t handler;
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

struct self {
	char **argv, **envp;
	int socket, file;	/* ours: the program does not get them */
	struct action pipe;	/* what a SIGPIPE does, for the program */
};

static char message[WAITING_MAX + 1];
static char found[2 * PATH_SIZE];

_Noreturn void waiter(long *stack);
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

/* The compiler may call these. */
void *
memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	while (n-- > 0)
		*t++ = *f++;
	return to;
}

void *
memset(void *to, int c, size_t n)
{
	char *t = to;

	while (n-- > 0)
		*t++ = (char)c;
	return to;
}

static size_t
text_length(const char *s)
{
	size_t n = 0;

	while (s[n] != '\0')
		n++;
	return n;
}

static _Noreturn void
exit_with(int status)
{
	for (;;)
		(void)sys4(__NR_exit_group, status, 0, 0, 0);
}

/* Prints. */

struct line {
	char text[WAITING_LINE_MAX + 64];
	size_t n;
};

static void
add(struct line *l, const char *s)
{
	while (*s != '\0' && l->n < sizeof(l->text) - 2)
		l->text[l->n++] = *s++;
}

/* Leaves the line out if nobody takes it for a while: a reader that stopped must not hold the GPU's turn up. */
static void
print(struct line *l)
{
	struct pollfd p = { .fd = 2, .events = POLLOUT };
	const struct { long seconds, nanoseconds; } patience = { PATIENCE_MS / 1000, PATIENCE_MS % 1000 * 1000000L };

	l->text[l->n++] = '\n';
	if (sys4(__NR_ppoll, (long)&p, 1, (long)&patience, 0) == 1 && (p.revents & (POLLERR | POLLNVAL)) == 0)
		(void)sys4(__NR_write, 2, (long)l->text, (long)l->n, 0);
}

static void
print_text(const char *text)
{
	struct line l = { .n = 0 };

	add(&l, "gpuhelper: ");
	add(&l, text);
	print(&l);
}

/* «exec: "PROGRAM": WHY», as runc says it. */
static void
print_exec_error(const char *program, const char *why)
{
	struct line l = { .n = 0 };

	add(&l, "gpuhelper: exec: \"");
	add(&l, program);
	add(&l, "\": ");
	add(&l, why);
	print(&l);
}

/* Finds the program, as Go's exec.LookPath() does for runc. */

/* 0, or an errno. */
static int
program_error(const char *file)
{
	struct stat st;
	long ret = sys4(__NR_newfstatat, AT_FDCWD, (long)file, (long)&st, 0);

	if (ret < 0)
		return (int)-ret;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	ret = sys4(__NR_faccessat2, AT_FDCWD, (long)file, 1 /* X_OK */, AT_EACCESS);
	/* an old kernel or a seccomp profile may not know this call */
	if (ret < 0 && ret != -ENOSYS && ret != -EPERM)
		return (int)-ret;
	return (st.st_mode & 0111) != 0 ? 0 : EACCES;
}

/* False if the two do not fit. */
static bool
join_path(const char *dir, size_t n, const char *name)
{
	const size_t rest = text_length(name) + 1;

	if (n + 1 + rest > sizeof(found))
		return false;
	(void)memcpy(found, dir, n);
	found[n] = '/';
	(void)memcpy(found + n + 1, name, rest);
	return true;
}

static bool
has_slash(const char *s)
{
	while (*s != '\0' && *s != '/')
		s++;
	return *s == '/';
}

static const char *
search_path(char *const *envp)
{
	for (; *envp != NULL; envp++)
		if ((*envp)[0] == 'P' && (*envp)[1] == 'A' && (*envp)[2] == 'T' && (*envp)[3] == 'H' && (*envp)[4] == '=')
			return *envp + 5;
	return "";
}

/* Finds a name without a slash. A program in a relative directory of PATH does not count, as Go has it. */
static bool
search(const char *path, const char *name)
{
	const char *end;

	for (;; path = end + 1) {
		for (end = path; *end != ':' && *end != '\0'; end++)
			;
		if (end == path ? join_path(".", 1, name) : join_path(path, (size_t)(end - path), name))
			if (program_error(found) == 0)
				return found[0] == '/';
		if (*end == '\0')
			return false;
	}
}

/* Fills found[], or says why not, and leaves. */
static void
locate_program(const struct self *s)
{
	const char *name = s->argv[0];
	int error;

	if (!has_slash(name)) {
		if (*name != '\0' && search(search_path(s->envp), name))
			return;
		print_exec_error(name, "executable file not found in $PATH");
		exit_with(NOT_FOUND);
	}
	if (text_length(name) >= sizeof(found))
		error = ENAMETOOLONG;
	else {
		(void)memcpy(found, name, text_length(name) + 1);
		error = program_error(name);
	}
	if (error == 0)
		return;
	print_exec_error(name, error == ENOENT ? "no such file or directory" : error == EISDIR ? "is a directory" :
	    error == ENOTDIR ? "not a directory" : error == ENAMETOOLONG ? "file name too long" : "permission denied");
	exit_with(NOT_FOUND);
}

/* Becomes the program. */

static size_t
name_length(const char *entry)
{
	size_t n = 0;

	while (entry[n] != '=' && entry[n] != '\0')
		n++;
	return n;
}

static bool
same_name(const char *a, const char *b)
{
	const size_t n = name_length(a);
	size_t i;

	for (i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return name_length(b) == n;
}

/* Replaces the variable, or adds it at *n. */
static void
set_variable(char **env, size_t *n, char *entry)
{
	size_t i;

	for (i = 0; i < *n && !same_name(env[i], entry); i++)
		;
	env[i] = entry;
	*n += i == *n;
}

/* Returns only an errno. */
static int
execute(const struct self *s, char **env)
{
	(void)sys4(__NR_rt_sigaction, SIGPIPE, (long)&s->pipe, 0, sizeof(s->pipe.mask));
	return (int)-sys4(__NR_execve, (long)found, (long)s->argv, (long)env, 0);
}

/* «variables» are n bytes, each variable with its 0. */
static _Noreturn void
start_program(struct self *s, char *variables, size_t n)
{
	size_t count = 0, more = 0, i;
	char **env;
	int error;

	while (s->envp[count] != NULL)
		count++;
	for (i = 0; i < n; i++)
		more += variables[i] == '\0';
	env = __builtin_alloca((count + more + 1) * sizeof(*env));
	for (i = 0; i < count; i++)
		env[i] = s->envp[i];
	for (i = 0; i < n; i += text_length(variables + i) + 1)
		if (name_length(variables + i) > 0)
			set_variable(env, &count, variables + i);
	env[count] = NULL;
	(void)sys4(__NR_close, s->socket, 0, 0, 0);
	(void)sys4(__NR_close, s->file, 0, 0, 0);
	/* again: it may be another file by now */
	locate_program(s);
	error = execute(s, env);
	print_exec_error(s->argv[0], error == ENOEXEC ? "exec format error" : error == EACCES ? "permission denied" :
	    error == E2BIG ? "argument list too long" : error == ENOENT ? "no such file or directory" : "can't be executed");
	exit_with(NOT_EXECUTED);
}

/* Waits. */

static _Noreturn void
leave_bad_message(void)
{
	print_text("the agent that takes the GPU sent something else than an answer: is the host's gpuhelper being replaced?");
	exit_with(BAD_MESSAGE);
}

static void
do_message(struct self *s, size_t n)
{
	message[n] = '\0';
	switch (message[0]) {
	case WAITING_LINE:
		print_text(message + 1);
		return;
	case WAITING_GO:
		/* the last variable must end */
		if (n > 1 && message[n - 1] != '\0')
			leave_bad_message();
		start_program(s, message + 1, n - 1);
	case WAITING_REFUSED:
		if (n < 2 || message[1] == '\0')
			leave_bad_message();
		print_text(message + 2);
		exit_with((unsigned char)message[1]);
	default:
		leave_bad_message();
	}
}

static _Noreturn void
wait_for_go(struct self *s)
{
	const char ready = WAITING_READY;
	long n;

	/* for a program that waits for nothing, nobody hears this: the answer is there already */
	(void)sys4(__NR_write, s->socket, (long)&ready, 1, 0);
	for (;;) {
		n = sys4(__NR_read, s->socket, (long)message, WAITING_MAX, 0);
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			print_text("the process that takes the GPU for this task is gone: start the task again");
			exit_with(WAITING_GONE);
		}
		do_message(s, (size_t)n);
	}
}

/* Reads a number, and the character after it. -1: there is none. */
static int
read_number(const char **p, char after)
{
	int n = 0;

	if (**p < '0' || **p > '9')
		return -1;
	while (**p >= '0' && **p <= '9' && n < 100000)
		n = n * 10 + *(*p)++ - '0';
	return *(*p)++ == after ? n : -1;
}

_Noreturn void
waiter(long *stack)
{
	struct self s = { .argv = (char **)(stack + 1) };
	const struct action ignore = { .handler = (uintptr_t)SIG_IGN };
	const char *numbers;

	s.envp = s.argv + stack[0] + 1;
	if (stack[0] < 3) {
		print_text("usage: gpuhelper-runc starts gpuhelper-wait in a container (see gpuhelper-runc(8))");
		exit_with(USAGE);
	}
	numbers = s.argv[1];
	s.socket = read_number(&numbers, ',');
	s.file = read_number(&numbers, '\0');
	s.argv += 2;
	if (s.socket < 3 || s.file < 3)
		exit_with(USAGE);
	/* a closed log must not end the wait; the program gets the signal's own action back */
	(void)sys4(__NR_rt_sigaction, SIGPIPE, (long)&ignore, (long)&s.pipe, sizeof(ignore.mask));
	locate_program(&s);
	wait_for_go(&s);
}

ENTRY;
