/*
 * Counts by ptrace(2) what a command and its descendants do, by program: system calls, bytes read, faults, and the
 * largest memory of a process.
 *
 *   calls -- COMMAND...
 *
 * Prints «PROGRAM processes calls bytes peak_kB faults» for each program.  A process counts for the last program that
 * it executed; a process that was forked and has executed nothing counts as «PROGRAM (forked)».  Bytes read are those
 * of read(2), pread(2), readv(2), recvfrom(2) and recvmsg(2).  Run it as root: only root's ptrace keeps the rights of
 * setuid programs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 4096
#define PROGRAMS 64
#define OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | \
	PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)

struct program {
	char name[80];
	unsigned processes;
	unsigned long long calls, bytes, faults;
	unsigned long peak;
};

struct process {
	pid_t pid;
	struct program *program;
	uint64_t nr;			/* the system call in progress */
	unsigned long faults;		/* that are some program's by now */
};

static struct program programs[PROGRAMS];
static struct process processes[PROCESSES];
static unsigned process_count;

static struct program *
program_of(const char *name)
{
	struct program *p = programs;

	while (p < programs + PROGRAMS - 1 && p->name[0] != '\0' && strcmp(p->name, name) != 0)
		p++;
	snprintf(p->name, sizeof(p->name), "%.79s", name);
	return p;
}

static struct process *
process_of(pid_t pid)
{
	unsigned i;

	for (i = 0; i < process_count; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	if (process_count == PROCESSES)
		exit(3);
	processes[process_count].pid = pid;
	return &processes[process_count++];
}

/* The number after «key» in /proc/PID/status. */
static unsigned long
status_of(pid_t pid, const char *key)
{
	char name[40], line[256];
	unsigned long value = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	if ((f = fopen(name, "r")) == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoul(line + strlen(key), NULL, 10);
	fclose(f);
	return value;
}

static unsigned long
faults_of(pid_t pid)
{
	char name[40], text[1024], *p;
	unsigned long faults = 0;
	FILE *f;
	size_t n;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	if ((f = fopen(name, "r")) == NULL)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	if ((p = strrchr(text, ')')) != NULL)
		(void)sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %lu", &faults);
	return faults;
}

/* Before another program, or nobody, has its memory. */
static void
note_memory(struct process *p)
{
	const unsigned long peak = status_of(p->pid, "VmHWM:"), faults = faults_of(p->pid);

	if (p->program == NULL)
		return;
	if (peak > p->program->peak)
		p->program->peak = peak;
	p->program->faults += faults - p->faults;
	p->faults = faults;
}

static void
executed(struct process *p)
{
	char name[40], path[PATH_MAX];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", p->pid);
	if ((n = readlink(name, path, sizeof(path) - 1)) == -1)
		n = 0;
	path[n] = '\0';
	p->program = program_of(strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
	p->program->processes++;
}

static void
forked(struct process *parent)
{
	char name[80];
	unsigned long pid = 0;
	struct process *p;

	if (ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid) == -1 || parent->program == NULL)
		return;
	snprintf(name, sizeof(name), "%.60s%s", parent->program->name,
	    strchr(parent->program->name, '(') != NULL ? "" : " (forked)");
	p = process_of((pid_t)pid);
	p->program = program_of(name);
	p->program->processes++;
}

static void
at_call(struct process *p)
{
	struct ptrace_syscall_info info;

	if (p->program == NULL || ptrace(PTRACE_GET_SYSCALL_INFO, p->pid, sizeof(info), &info) == -1)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		p->nr = info.entry.nr;
		p->program->calls++;
		if (p->nr == SYS_execve || p->nr == SYS_execveat)
			note_memory(p);
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && info.exit.rval > 0 && (p->nr == SYS_read || p->nr == SYS_pread64 ||
	    p->nr == SYS_readv || p->nr == SYS_recvfrom || p->nr == SYS_recvmsg))
		p->program->bytes += (unsigned long long)info.exit.rval;
}

static int
signal_to_pass(struct process *p, int st)
{
	const int sig = WSTOPSIG(st), event = st >> 16;

	if (sig == (SIGTRAP | 0x80)) {
		at_call(p);
		return 0;
	}
	switch (event) {
	case PTRACE_EVENT_EXEC:
		executed(p);
		return 0;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		forked(p);
		return 0;
	case PTRACE_EVENT_EXIT:
		note_memory(p);
		return 0;
	}
	/* the first stop of a process that was just forked */
	return event != 0 || sig == SIGSTOP || sig == SIGTRAP ? 0 : sig;
}

int
main(int argc, char **argv)
{
	pid_t first, pid;
	int st, status = 1;
	struct program *g;

	if (argc < 3) {
		fprintf(stderr, "usage: calls -- COMMAND...\n");
		return 2;
	}
	if ((first = fork()) == 0) {
		(void)raise(SIGSTOP);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	if (first == -1 || ptrace(PTRACE_SEIZE, first, NULL, (void *)(uintptr_t)OPTIONS) == -1 ||
	    waitpid(first, &st, __WALL | WUNTRACED) != first || kill(first, SIGCONT) == -1 ||
	    ptrace(PTRACE_SYSCALL, first, NULL, NULL) == -1) {
		perror("calls");
		return 1;
	}
	/* until the command has ended; what it left behind ends with us */
	while ((pid = waitpid(-1, &st, __WALL)) != -1) {
		if (WIFSTOPPED(st)) {
			(void)ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)signal_to_pass(process_of(pid), st));
			continue;
		}
		process_of(pid)->pid = 0;
		if (pid == first) {
			status = WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
			break;
		}
	}
	for (g = programs; g < programs + PROGRAMS && g->name[0] != '\0'; g++)
		printf("%s\t%u\t%llu\t%llu\t%lu\t%llu\n", g->name, g->processes, g->calls, g->bytes, g->peak, g->faults);
	return status;
}
