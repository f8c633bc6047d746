/*
 * launch: executes a program from an unusual process state.
 *
 *	launch [-e NAME=VALUE]... [-E] [-v COUNT] [-w BYTES] [-z ARGV0] [-Z] [-a ARG]... [-n COUNT]
 *	    [-r LIMIT=VALUE]... [-c FD]... [-o COUNT:PATH] [-b] [-i] [-t MS] [-l NS] [-u] [-s] [-k] PROGRAM
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static char *env[20000], **args;
static size_t envs, argn = 1;

static const struct {
	const char *name;
	int what;
} limits[] = {
	{ "FSIZE", RLIMIT_FSIZE }, { "NOFILE", RLIMIT_NOFILE }, { "STACK", RLIMIT_STACK }, { "AS", RLIMIT_AS },
	{ "CPU", RLIMIT_CPU }, { "NPROC", RLIMIT_NPROC }, { "CORE", RLIMIT_CORE }, { "DATA", RLIMIT_DATA },
	{ "MEMLOCK", RLIMIT_MEMLOCK }, { "MSGQUEUE", RLIMIT_MSGQUEUE }, { "RTTIME", RLIMIT_RTTIME },
	{ "SIGPENDING", RLIMIT_SIGPENDING }, { "LOCKS", RLIMIT_LOCKS },
};

static void
die(const char *what)
{
	fprintf(stderr, "launch: %s: %s\n", what, strerror(errno));
	_exit(125);
}

/* Soft and hard limits; set last, because launch needs some resources itself. */
static void
limit(const char *text)
{
	const char *value = strchr(text, '=') + 1;
	struct rlimit r;
	size_t i;

	r.rlim_cur = r.rlim_max = strcmp(value, "unlimited") == 0 ? RLIM_INFINITY : strtoull(value, NULL, 10);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (strncmp(text, limits[i].name, strlen(limits[i].name)) == 0 && text[strlen(limits[i].name)] == '=') {
			if (setrlimit(limits[i].what, &r) == -1)
				die(text);
			return;
		}
	errno = EINVAL;
	die(text);
}

static void
fill(size_t count)
{
	char text[32];

	for (; count > 0 && envs < 19000; count--) {
		snprintf(text, sizeof(text), "V%zu=x", count);
		env[envs++] = strdup(text);
	}
}

/* In pieces of 128 KiB, the kernel's limit for one string. */
static void
swell(size_t bytes)
{
	size_t piece;
	char *text;

	for (; bytes > 0; bytes -= piece) {
		piece = bytes < 100000 ? bytes : 100000;
		if ((text = malloc(piece + 8)) == NULL)
			die("malloc");
		memset(text, 'x', piece + 8);
		memcpy(text, "BIG=", 4);
		text[piece + 7] = '\0';
		env[envs++] = text;
	}
}

static void
open_many(char *text)
{
	char *path = strchr(text, ':');
	int count;

	*path++ = '\0';
	for (count = atoi(text); count > 0; count--)
		if (open(path, O_RDONLY) == -1)
			die(path);
}

/* Simulates a kernel without seccomp: root may set such a filter without no_new_privs. */
static void
hide_seccomp(void)
{
	struct sock_filter v[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
	};
	struct sock_fprog p = { sizeof(v) / sizeof(v[0]), v };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) == -1)
		die("PR_SET_SECCOMP");
}

int
main(int argc, char **argv)
{
	const char *limit_texts[32];
	struct itimerval timer = { { 0, 0 }, { 0, 0 } };
	struct sched_param none = { 0 };
	int c, null_env = 0, null_argv = 0, sig, ignore = 0, block = 0;
	size_t nlimits = 0, i;
	sigset_t all;

	args = calloc(400000, sizeof(*args));
	args[0] = strdup("gpuhelper");
	while ((c = getopt(argc, argv, "+e:Ev:w:z:Za:n:r:c:o:bit:l:usk")) != -1)
		switch (c) {
		case 'e': env[envs++] = optarg; break;
		case 'E': null_env = 1; break;
		case 'v': fill(strtoul(optarg, NULL, 10)); break;
		case 'w': swell(strtoul(optarg, NULL, 10)); break;
		case 'z': args[0] = optarg; break;
		case 'Z': null_argv = 1; break;
		case 'a': args[argn++] = optarg; break;
		case 'n':
			for (i = strtoul(optarg, NULL, 10); i > 0; i--)
				args[argn++] = strdup("x");
			break;
		case 'r': limit_texts[nlimits++] = optarg; break;
		case 'c': close(atoi(optarg)); break;
		case 'o': open_many(optarg); break;
		case 'b': block = 1; break;
		case 'i': ignore = 1; break;
		case 't': timer.it_value.tv_usec = atoi(optarg) * 1000; break;
		case 'l':
			if (prctl(PR_SET_TIMERSLACK, strtoul(optarg, NULL, 10)) == -1)
				die("PR_SET_TIMERSLACK");
			break;
		case 'u': umask(0777); break;
		case 'k': hide_seccomp(); break;
		case 's':
			if (sched_setscheduler(0, SCHED_IDLE, &none) == -1 || setpriority(PRIO_PROCESS, 0, 19) == -1)
				die("SCHED_IDLE");
			break;
		default: return 125;
		}
	if (optind != argc - 1)
		return 125;
	for (sig = 1; ignore && sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	sigfillset(&all);
	if (block)
		sigprocmask(SIG_BLOCK, &all, NULL);
	if (timer.it_value.tv_usec > 0)
		setitimer(ITIMER_REAL, &timer, NULL);
	for (i = 0; i < nlimits; i++)
		limit(limit_texts[i]);
	if (null_argv)
		args[0] = NULL;
	execve(argv[optind], args, null_env ? NULL : env);
	if (null_argv && errno == EINVAL)	/* a kernel that refuses to start it */
		_exit(64);
	die(argv[optind]);
	return 125;
}
