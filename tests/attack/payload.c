/*
 * payload: does what code could do that a bug let into the helper.  It traces a process that waits in a system call,
 * and makes that process do system calls, each by its number on this machine:
 *
 *	payload PID [i386:]CALL[,ARGUMENT]...
 *
 * An argument is a number, «=TEXT» for the address of that text in the process's memory, or «@N» for the result of
 * the Nth call.  With «i386:» the call uses «int $0x80», for which an x86-64 kernel takes i386 numbers.  Prints the
 * result of each call (negative: the error), or «killed» if the process died.  Leaves the process stopped; the caller
 * kills it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <linux/elf.h>

#define CALLS_MAX 16

static pid_t pid;
static long results[CALLS_MAX];

static void
die(const char *what)
{
	fprintf(stderr, "payload: %s: %s\n", what, strerror(errno));
	exit(2);
}

#if defined(__x86_64__)
typedef struct user_regs_struct regs;
#define INSTRUCTION 2	/* the length of «syscall» */

static void
prepare(regs *r, long call, const unsigned long arg[6])
{
	r->orig_rax = -1UL;
	r->rax = (unsigned long)call;
	r->rdi = arg[0];
	r->rsi = arg[1];
	r->rdx = arg[2];
	r->r10 = arg[3];
	r->r8 = arg[4];
	r->r9 = arg[5];
}
#define PC(r) (r).rip
#define SP(r) (r).rsp
#define RESULT(r) (long)(r).rax
#elif defined(__aarch64__)
typedef struct user_regs_struct regs;
#define INSTRUCTION 4	/* the length of «svc #0» */

static void
prepare(regs *r, long call, const unsigned long arg[6])
{
	r->regs[8] = (unsigned long)call;
	memcpy(r->regs, arg, 6 * sizeof(*arg));
}
#define PC(r) (r).pc
#define SP(r) (r).sp
#define RESULT(r) (long)(r).regs[0]
#endif

static void
get(regs *r)
{
	struct iovec v = { r, sizeof(*r) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v) == -1)
		die("PTRACE_GETREGSET");
}

static void
set(regs *r)
{
	struct iovec v = { r, sizeof(*r) };

	if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v) == -1)
		die("PTRACE_SETREGSET");
}

/* Below the stack, in words, as ptrace(2) writes them. */
static unsigned long
put_text(unsigned long *at, const char *text)
{
	const size_t size = strlen(text) + 1;
	char padded[8192] = { 0 };
	size_t i;

	if (size > sizeof(padded) - 8)
		exit(2);
	memcpy(padded, text, size);
	*at = (*at - size) & ~15UL;
	for (i = 0; i < size; i += sizeof(long))
		if (ptrace(PTRACE_POKEDATA, pid, *at + i, *(long *)(void *)(padded + i)) == -1)
			die("PTRACE_POKEDATA");
	return *at;
}

static unsigned long
argument(unsigned long *at, const char *text)
{
	if (*text == '=')
		return put_text(at, text + 1);
	if (*text == '@')
		return (unsigned long)results[atoi(text + 1)];
	return (unsigned long)strtoll(text, NULL, 0);
}

#if defined(__x86_64__)
#define OTHER 0x80cdUL	/* «int $0x80», as two bytes */

/* Replaces the instruction there.  Root may: the kernel makes a private copy of the page. */
static void
be_of_i386(unsigned long pc)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, pc, NULL);
	if (errno != 0 || ptrace(PTRACE_POKETEXT, pid, pc, ((unsigned long)word & ~0xffffUL) | OTHER) == -1)
		die("PTRACE_POKETEXT");
}
#else
static void
be_of_i386(unsigned long pc)
{
	(void)pc;
	exit(3);
}
#endif

/* False: the process ended. */
static int
call(const regs *saved, char *words, long *result)
{
	unsigned long arg[6] = { 0 }, at = SP(*saved) - 4096;
	regs r = *saved;
	const int i386 = strncmp(words, "i386:", 5) == 0;
	char *word = strtok(i386 ? words + 5 : words, ",");
	const long number = atol(word);
	size_t i;
	int status;

	if (i386)
		be_of_i386(PC(*saved) - INSTRUCTION);
	for (i = 0; i < 6 && (word = strtok(NULL, ",")) != NULL; i++)
		arg[i] = argument(&at, word);
	prepare(&r, number, arg);
	PC(r) -= INSTRUCTION;
	set(&r);
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == -1 || waitpid(pid, &status, 0) != pid)
		die("PTRACE_SINGLESTEP");
	/* the filter's kill shows as an end, or as a stop with the signal */
	if (!WIFSTOPPED(status) || WSTOPSIG(status) == SIGSYS)
		return 0;
	get(&r);
	*result = RESULT(r);
	return 1;
}

int
main(int argc, char **argv)
{
	int status, i;
	regs saved;

	if (argc < 3 || argc > CALLS_MAX + 2)
		return 2;
	pid = atoi(argv[1]);
	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) == -1 || waitpid(pid, &status, 0) != pid)
		die("PTRACE_ATTACH");
	get(&saved);
	for (i = 2; i < argc; i++) {
		if (!call(&saved, argv[i], &results[i - 2])) {
			puts("killed");
			break;
		}
		printf("%ld\n", results[i - 2]);
	}
	kill(pid, SIGKILL);
	return 0;
}
