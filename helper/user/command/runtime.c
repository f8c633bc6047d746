/* See runtime.h. Runs with the caller's rights, and must run nothing but what the caller could. */
#include "runtime.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../json/doc.h"

#define DEPTH_VARIABLE "GPUHELPER_RUNC_DEPTH"
#define DEPTH_MAX 4

extern char **environ;

/*
 * Marks each copy of the wrapper, so that it recognizes another copy at any path: two copies that find each
 * other in PATH would call each other forever.
 */
static const struct {
	Elf64_Nhdr head;
	char name[12];
} wrapper_note __attribute__((section(".note.gpuhelper"), used, aligned(4))) = {
	{ .n_namesz = sizeof("gpuhelper"), .n_descsz = 0, .n_type = 1 }, "gpuhelper" };

enum program { PROGRAM_NONE, PROGRAM_WRAPPER, PROGRAM_ELF, PROGRAM_OTHER };

/* The beginning of a program's file, where the headers and the notes mostly are. */
struct beginning {
	union {
		Elf64_Ehdr head;
		char p[4096];
	};
	size_t len;
};

/* The same as pread(2). Takes from the beginning what lies there. */
static ssize_t
read_part(int fd, const struct beginning *b, void *out, size_t size, uint64_t at)
{
	if (at > b->len || size > b->len - at)
		return pread(fd, out, size, (off_t)at);
	memcpy(out, b->p + at, size);
	return (ssize_t)size;
}

static bool
has_note(int fd, const struct beginning *b)
{
	Elf64_Phdr p;
	char notes[1024];
	ssize_t n;
	size_t i;

	for (i = 0; i < b->head.e_phnum && i < 64; i++) {
		if (read_part(fd, b, &p, sizeof(p), b->head.e_phoff + i * sizeof(p)) != (ssize_t)sizeof(p))
			return false;
		if (p.p_type != PT_NOTE)
			continue;
		n = read_part(fd, b, notes, p.p_filesz < sizeof(notes) ? p.p_filesz : sizeof(notes), p.p_offset);
		if (n > 0 && memmem(notes, (size_t)n, &wrapper_note, sizeof(wrapper_note)) != NULL)
			return true;
	}
	return false;
}

static enum program
identify_program(const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st, self;
	struct beginning b;
	ssize_t n;

	if (access(path, X_OK) == -1)
		return PROGRAM_NONE;
	if (fd == -1)	/* an unreadable file can only be compared with this program's own file */
		return stat(path, &st) == 0 && stat("/proc/self/exe", &self) == 0 && st.st_dev == self.st_dev &&
		    st.st_ino == self.st_ino ? PROGRAM_WRAPPER : PROGRAM_OTHER;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return PROGRAM_NONE;
	if (stat("/proc/self/exe", &self) == 0 && st.st_dev == self.st_dev && st.st_ino == self.st_ino)
		return PROGRAM_WRAPPER;
	n = pread(fd, b.p, sizeof(b.p), 0);
	b.len = n > 0 ? (size_t)n : 0;
	if (b.len < sizeof(b.head) || memcmp(b.p, ELFMAG, SELFMAG) != 0)
		return PROGRAM_OTHER;
	return has_note(fd, &b) ? PROGRAM_WRAPPER : PROGRAM_ELF;
}

char *
runtime_first_in(const char *path, bool *wrapper)
{
	autofree char *dirs = strdup(path);
	char *dir, *save = NULL, *found;
	enum program p;

	for (dir = dirs != NULL ? strtok_r(dirs, ":", &save) : NULL; dir != NULL; dir = strtok_r(NULL, ":", &save)) {
		if (asprintf(&found, "%s/runc", dir) == -1)
			return NULL;
		p = identify_program(found);
		if (p != PROGRAM_NONE && (p != PROGRAM_WRAPPER || wrapper != NULL)) {
			if (wrapper != NULL)
				*wrapper = p == PROGRAM_WRAPPER;
			return found;
		}
		free(found);
	}
	return NULL;
}

char *
runtime_find_in(const char *path, struct why *why)
{
	autofree char *first = NULL;
	char *found = runtime_first_in(path, NULL);
	bool wrapper = false;

	if (found != NULL)
		return found;
	first = runtime_first_in(path, &wrapper);
	refuse(why, WHY_ABSENT, "no OCI runtime in PATH%s: install runc, or set runtime = \"/path\" in gpuhelper.conf",
	    wrapper ? " but gpuhelper-runc itself" : "");
	return NULL;
}

/*
 * The configured runtime runs with the worker's rights, which are often root's, so only root may be able to
 * change it.
 */
static int
check_configured(const char *path, struct why *why)
{
	autofree char *real = realpath(path, NULL), *dir = NULL;
	autoclose int parent = -1, fd = -1;

	if (real == NULL)
		return refuse(why, WHY_ABSENT, "runtime %s: %s", path, strerror(errno));
	if ((dir = path_parent(real)) == NULL)
		return refuse_nomem(why);
	if ((parent = trust_open_dir(dir, true, why)) == -1)
		return refuse_within(why, "runtime");
	if ((fd = file_open_beneath(parent, path_last(real), O_PATH)) == -1)
		return refuse(why, WHY_ABSENT, "runtime %s: %s", real, strerror(errno));
	if (trust_check(fd, real, why) == -1)
		return refuse_within(why, "runtime");
	switch (identify_program(real)) {
	case PROGRAM_NONE:
		return refuse(why, WHY_ABSENT, "runtime %s can't be executed", path);
	case PROGRAM_WRAPPER:
		return refuse(why, WHY_CONFIG, "runtime %s in gpuhelper.conf is gpuhelper-runc itself: name the runtime below it",
		    path);
	case PROGRAM_ELF:
	case PROGRAM_OTHER:
		break;
	}
	return 0;
}

char *
runtime_find(const char *configured, struct why *why)
{
	char *path;

	if (configured == NULL)
		return runtime_find_in(getenv("PATH") != NULL ? getenv("PATH") : "/usr/sbin:/usr/bin:/sbin:/bin", why);
	if (check_configured(configured, why) == -1)
		return NULL;
	if ((path = strdup(configured)) == NULL)
		refuse_nomem(why);
	return path;
}

/*
 * Counts how often gpuhelper-runc was called in a chain: a script or a vendor's runtime below may find it
 * again as «runc» in PATH. Keeps the count in a variable, for such runtimes only: runc and crun get the
 * environment unchanged.
 */
static int
count_depth(const char *path, struct why *why)
{
	static const char *const leaves[] = { "runc", "crun", "youki", "runsc", NULL };
	const char *had = getenv(DEPTH_VARIABLE), *name = strrchr(path, '/') + 1;
	uint32_t depth = 0;
	char text[16];
	size_t i;

	if (had != NULL)
		(void)text_u32(had, 0, 1000, &depth);
	if (depth >= DEPTH_MAX)
		return refuse(why, WHY_CONFIG, "%s calls gpuhelper-runc again, in a loop: set runtime in gpuhelper.conf to a "
		    "runtime that does not", path);
	for (i = 0; leaves[i] != NULL; i++)
		if (strcmp(leaves[i], name) == 0 && identify_program(path) == PROGRAM_ELF)
			return 0;
	snprintf(text, sizeof(text), "%u", depth + 1);
	return setenv(DEPTH_VARIABLE, text, 1) == 0 ? 0 : refuse_nomem(why);
}

static struct sigaction inherited_chld;

void
runtime_begin(void)
{
	(void)sigaction(SIGCHLD, NULL, &inherited_chld);
	(void)signal(SIGCHLD, SIG_DFL);
}

int
runtime_exec(const char *path, char *const *argv, struct why *why)
{
	if (count_depth(path, why) == -1)
		return -1;
	(void)sigaction(SIGCHLD, &inherited_chld, NULL);
	execve(path, argv, environ);
	return refuse(why, WHY_ABSENT, "runtime %s: %s", path, strerror(errno));
}

static volatile sig_atomic_t child;

/* Signals from the terminal reach the child by themselves. */
static void
pass_on(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (child > 0 && info->si_code <= 0)
		(void)kill((pid_t)child, sig);
}

/* Signals that are passed on to the child. */
static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT };
#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

/*
 * Restores the caller's signal handling in the child, and has it die with this process if this process would
 * die with its parent.
 */
static void
restore_child(int deathsig, pid_t parent, const sigset_t *mask)
{
	struct sigaction a;
	size_t i;

	/* ignored signals stay ignored, as over execve(2) */
	for (i = 0; i < PASSED_ON; i++)
		if (sigaction(passed_on[i], NULL, &a) == 0 && (a.sa_flags & SA_SIGINFO) != 0)
			(void)signal(passed_on[i], SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	if (deathsig != 0 && (prctl(PR_SET_PDEATHSIG, deathsig) == -1 || getppid() != parent))
		_exit(1);
}

int
runtime_fork(int *status, bool bound, struct why *why)
{
	struct sigaction pass = { .sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO }, old;
	pid_t self = getpid(), pid;
	sigset_t all, mask;
	int deathsig = 0, st;
	size_t i;

	(void)prctl(PR_GET_PDEATHSIG, &deathsig);
	if (deathsig == 0 && bound)
		deathsig = SIGKILL;
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &mask);
	for (i = 0; i < PASSED_ON; i++)
		if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			(void)sigaction(passed_on[i], &pass, NULL);
	if ((pid = fork()) == -1)
		return refuse(why, WHY_AGAIN, "fork: %s", strerror(errno));
	if (pid == 0) {
		restore_child(deathsig, self, &mask);
		return 1;
	}
	child = pid;
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	while (waitpid(pid, &st, 0) == -1)
		if (errno != EINTR)
			return refuse(why, WHY_IO, "waiting for the runtime: %s", strerror(errno));
	child = 0;
	*status = WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
	return 0;
}

/* Executes the runtime, in a child. Its input, its messages and, if out is -1, its output are /dev/null. */
static _Noreturn void
become_quiet_runtime(const char *path, char *const *argv, int out)
{
	const int null = open("/dev/null", O_RDWR);

	if (null != -1 && dup2(null, 0) != -1 && dup2(out != -1 ? out : null, 1) != -1 && dup2(null, 2) != -1)
		execve(path, argv, environ);
	_exit(127);
}

void
runtime_delete(const char *path, char *const *argv, int verb_at, const char *id)
{
	char verb[] = "delete", force[] = "--force";
	autofree char *name = strdup(id);
	char **words = calloc((size_t)verb_at + 4, sizeof(*words));
	pid_t pid;
	int i;

	if (words == NULL || name == NULL) {
		free(words);
		return;
	}
	for (i = 0; i < verb_at; i++)
		words[i] = argv[i];
	words[i++] = verb;
	words[i++] = force;
	words[i] = name;
	if ((pid = fork()) == 0)
		become_quiet_runtime(path, words, -1);
	while (pid != -1 && waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
	free(words);
}

/* Reads the runtime's output, at most size - 1 bytes. False if the runtime fails. */
static bool
read_runtime_output(const char *path, char *const *argv, char *out, size_t size)
{
	struct pollfd p;
	size_t have = 0;
	int fds[2], st;
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) == -1)
		return false;
	if ((pid = fork()) == 0)
		become_quiet_runtime(path, argv, fds[1]);
	close(fds[1]);
	p = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	while (pid != -1 && have < size - 1 && poll(&p, 1, 5000) > 0 &&
	    (n = read(fds[0], out + have, size - 1 - have)) > 0)
		have += (size_t)n;
	close(fds[0]);
	out[have] = '\0';
	return pid != -1 && waitpid(pid, &st, 0) == pid && WIFEXITED(st) && WEXITSTATUS(st) == 0;
}

bool
runtime_has_mount_option(const char *path, const char *option)
{
	char features[] = "features", name[] = "runc", *const argv[] = { name, features, NULL };
	autofree char *text = malloc(65536);
	autodoc struct doc d = { 0 };
	struct why why;
	uint32_t n;

	if (text == NULL || !read_runtime_output(path, argv, text, 65536) || doc_parse(&d, text, strlen(text), &why) == -1)
		return false;
	for (n = doc_first(&d, doc_get(&d, 0, "mountOptions")); n != DOC_NONE; n = doc_next(&d, n))
		if (doc_equals(&d, n, option))
			return true;
	return false;
}

pid_t
runtime_first_process(const char *path, char *const *argv, int verb_at, const char *id)
{
	autofree char *text = malloc(65536), *name = strdup(id);
	autofree char **words = calloc((size_t)verb_at + 3, sizeof(*words));
	autodoc struct doc d = { 0 };
	char verb[] = "state";
	struct why why;
	int64_t pid;
	int i;

	if (text == NULL || name == NULL || words == NULL)
		return 0;
	for (i = 0; i < verb_at; i++)
		words[i] = argv[i];
	words[i++] = verb;
	words[i] = name;
	return read_runtime_output(path, words, text, 65536) && doc_parse(&d, text, strlen(text), &why) == 0 &&
	    doc_i64(&d, doc_get(&d, 0, "pid"), &pid) && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}
