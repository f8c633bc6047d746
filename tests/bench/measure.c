/*
 * Runs commands in turn (A B C A B C ...) and prints the time of each run.  A small program: starting a command from it
 * costs little, and always the same.
 *
 *   measure ROUNDS WARMUP SECONDS < CASE
 *
 * The first WARMUP rounds are not printed.  After SECONDS no further round begins, if there were at least LEAST.
 *
 * CASE has a block for each command, one word a line («%» stands for the number of the run):
 *
 *   command NAME
 *   dir PATH			the working directory; made before the run
 *   copy FROM TO		before each run, TO becomes a new file with FROM's content (may be repeated)
 *   cgroup PATH		made before each run, removed after it
 *   env NAME=VALUE, arg WORD	the whole environment, all arguments
 *   warm FILE			a cgroup.procs file to which a process moves just before each run.  After a pause the kernel waits for
 *				an RCU grace period (5 to 12 ms) in the first such move, but not in those soon after it
 *   after WORD			the arguments of a command that runs after each run, with an empty environment, not measured
 *   at_once N			N concurrent runs; one line for all of them
 *
 * Prints «NAME wall user system cpu faults» for each run: nanoseconds; cpu is user + system as the scheduler counts it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS 32
#define COMMANDS 32
#define COPIES 2
#define AT_ONCE 64
#define LEAST 3

struct command {
	char *name, *dir, *cgroup, *warm;
	char *from[COPIES], *to[COPIES];
	char *env[WORDS], *arg[WORDS], *after[WORDS];
	unsigned copies, envs, args, afters, at_once;
};

static struct command commands[COMMANDS];
static unsigned serial;
static pid_t moved;

static void
die(const char *what, const char *name)
{
	fprintf(stderr, "measure: %s: %s: %s\n", what, name, strerror(errno));
	exit(1);
}

/* The text with the number in place of each «%»; the caller frees. */
static char *
with_number(const char *pattern, unsigned number)
{
	char *out = malloc(strlen(pattern) + 64), *o = out;

	if (out == NULL)
		die("memory", pattern);
	for (; *pattern != '\0'; pattern++)
		if (*pattern == '%')
			o += sprintf(o, "%u", number);
		else
			*o++ = *pattern;
	*o = '\0';
	return out;
}

static void
numbered(char *const *pattern, unsigned n, char *out[WORDS], unsigned number)
{
	unsigned i;

	for (i = 0; i < n; i++)
		out[i] = with_number(pattern[i], number);
	out[n] = NULL;
}

static void
free_words(char **words)
{
	for (; *words != NULL; words++)
		free(*words);
}

static void
copy(const char *from, const char *to)
{
	static char content[1 << 16];
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t n;

	(void)unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (in == -1 || out == -1)
		die("copy", to);
	while ((n = read(in, content, sizeof(content))) > 0)
		if (write(out, content, (size_t)n) != n)
			die("copy", to);
	close(in);
	close(out);
}

static void
prepare(const struct command *c, unsigned number)
{
	char *path, *from;
	unsigned i;

	if (c->dir != NULL) {
		path = with_number(c->dir, number);
		if (mkdir(path, 0755) == -1 && errno != EEXIST)
			die("mkdir", path);
		free(path);
	}
	for (i = 0; i < c->copies; i++) {
		from = with_number(c->from[i], number);
		path = with_number(c->to[i], number);
		copy(from, path);
		free(from);
		free(path);
	}
	if (c->cgroup != NULL) {
		path = with_number(c->cgroup, number);
		if (mkdir(path, 0755) == -1 && errno != EEXIST)
			die("mkdir", path);
		free(path);
	}
}

/* The words are prepared beforehand, so that the child executes at once. */
static pid_t
start(const struct command *c, char *const *arg, char *const *env, unsigned number)
{
	char *volatile dir = c->dir != NULL ? with_number(c->dir, number) : NULL;
	pid_t pid = vfork();

	if (pid == 0) {
		if (dir != NULL && chdir(dir) == -1)
			_exit(126);
		execve(arg[0], arg, env);
		_exit(127);
	}
	free(dir);
	if (pid == -1)
		die("vfork", arg[0]);
	return pid;
}

/* Processes that were left behind are our children now: kills them, except the one that is moved between cgroups. */
static void
end_others(void)
{
	char path[64], text[4096], *p, *end;
	int fd;
	ssize_t n;
	long pid;
	bool more;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	do {
		more = false;
		if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
			die("open", path);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[n > 0 ? n : 0] = '\0';
		for (p = text; (pid = strtol(p, &end, 10)) > 0; p = end)
			if (pid != moved) {
				more = true;
				(void)kill((pid_t)pid, SIGKILL);
				(void)waitpid((pid_t)pid, NULL, 0);
			}
	} while (more);
}

static void
clean(const struct command *c, unsigned number)
{
	char *arg[WORDS], *env[WORDS], *path;
	int st;

	end_others();
	if (c->afters > 0) {
		numbered(c->after, c->afters, arg, number);
		env[0] = NULL;
		if (waitpid(start(c, arg, env, number), &st, 0) == -1 || st != 0)
			fprintf(stderr, "measure: %s: «%s» after it: status %x\n", c->name, arg[0], st);
		free_words(arg);
	}
	if (c->cgroup != NULL) {
		path = with_number(c->cgroup, number);
		(void)rmdir(path);
		free(path);
	}
}

static void
warm_up(const char *procs)
{
	char text[16];
	int fd = open(procs, O_WRONLY | O_CLOEXEC), i;

	if (moved == 0 && (moved = fork()) == 0)
		for (prctl(PR_SET_PDEATHSIG, SIGKILL);;)
			pause();
	snprintf(text, sizeof(text), "%d", moved);
	for (i = 0; i < 2; i++)
		if (fd == -1 || write(fd, text, strlen(text)) == -1)
			die("moving a process", procs);
	close(fd);
}

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static int64_t
ns(struct timeval t)
{
	return t.tv_sec * (int64_t)1000000000 + t.tv_usec * 1000;
}

static void
print_run(const char *name, int64_t took, int64_t user, int64_t system, long faults)
{
	printf("%s %lld %lld %lld %lld %ld\n", name, (long long)took, (long long)user, (long long)system,
	    (long long)(user + system), faults);
}

static void
run(const struct command *c, bool shown)
{
	static char *arg[AT_ONCE][WORDS], *env[AT_ONCE][WORDS];
	const unsigned n = c->at_once > 0 ? c->at_once : 1, first = serial;
	struct rusage before, after;
	pid_t pid[AT_ONCE];
	int64_t began, took;
	int st, failed = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		prepare(c, first + i);
		numbered(c->arg, c->args, arg[i], first + i);
		numbered(c->env, c->envs, env[i], first + i);
	}
	serial += n;
	if (c->warm != NULL)
		warm_up(c->warm);
	getrusage(RUSAGE_CHILDREN, &before);
	began = now();
	for (i = 0; i < n; i++)
		pid[i] = start(c, arg[i], env[i], first + i);
	for (i = 0; i < n; i++)
		if (waitpid(pid[i], &st, 0) != pid[i] || st != 0)
			failed = st;
	took = now() - began;
	getrusage(RUSAGE_CHILDREN, &after);
	for (i = 0; i < n; i++) {
		clean(c, first + i);
		free_words(arg[i]);
		free_words(env[i]);
	}
	if (failed != 0) {
		fprintf(stderr, "measure: %s: wait status 0x%x\n", c->name, failed);
		exit(1);
	}
	if (shown)
		print_run(c->name, took, ns(after.ru_utime) - ns(before.ru_utime), ns(after.ru_stime) - ns(before.ru_stime),
		    after.ru_minflt - before.ru_minflt);
}

static char *
keep(const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL)
		die("memory", text);
	return copy;
}

static void
add(char **words, unsigned *n, const char *word)
{
	if (*n == WORDS - 1) {
		errno = E2BIG;
		die("too many words", word);
	}
	words[(*n)++] = keep(word);
}

static unsigned
read_case(void)
{
	static char line[8192];
	struct command *c = commands - 1;
	char *value, *space;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if ((value = strchr(line, ' ')) == NULL)
			continue;
		*value++ = '\0';
		if (strcmp(line, "command") == 0 && ++c < commands + COMMANDS)
			c->name = keep(value);
		else if (strcmp(line, "dir") == 0)
			c->dir = keep(value);
		else if (strcmp(line, "cgroup") == 0)
			c->cgroup = keep(value);
		else if (strcmp(line, "warm") == 0)
			c->warm = keep(value);
		else if (strcmp(line, "env") == 0)
			add(c->env, &c->envs, value);
		else if (strcmp(line, "arg") == 0)
			add(c->arg, &c->args, value);
		else if (strcmp(line, "after") == 0)
			add(c->after, &c->afters, value);
		else if (strcmp(line, "at_once") == 0)
			c->at_once = (unsigned)atoi(value);
		else if (strcmp(line, "copy") == 0 && c->copies < COPIES && (space = strchr(value, ' ')) != NULL) {
			*space = '\0';
			c->from[c->copies] = keep(value);
			c->to[c->copies++] = keep(space + 1);
		} else {
			errno = EINVAL;
			die("case", line);
		}
	}
	return (unsigned)(c + 1 - commands);
}

int
main(int argc, char **argv)
{
	int rounds = argc == 4 ? atoi(argv[1]) : 0, warmup, i;
	unsigned n, k;
	int64_t end;

	if (rounds <= 0) {
		fprintf(stderr, "usage: measure ROUNDS WARMUP SECONDS < CASE\n");
		return 2;
	}
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	warmup = atoi(argv[2]);
	n = read_case();
	end = now() + atoi(argv[3]) * (int64_t)1000000000;
	for (i = -warmup; i < rounds && (i < LEAST || now() < end); i++)
		for (k = 0; k < n; k++)
			run(&commands[k], i >= 0);
	if (moved > 0)
		(void)kill(moved, SIGKILL);
	return 0;
}
