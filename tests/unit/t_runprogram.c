/*
 * ctl/runprogram.c: tells a program's output and how it ended, even if the program tries to keep
 * setup waiting.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/runprogram.h"
#include "host/clock.h"
#include "tap.h"

#define MIB (1024 * 1024)

/* Runs a script. Stores how long it took in *took, in milliseconds. */
static struct ran
run(const char *script, int64_t *took)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	const int64_t began = clock_ms();
	struct ran r;
	struct why why;

	if (program_run(argv, &r, &why) == -1) {
		printf("# %s\n", why.text);
		exit(2);
	}
	*took = clock_ms() - began;
	return r;
}

static void
ordinary(void)
{
	const char *const nothing[] = { "gpuhelper-no-such-program", NULL };
	int64_t took;
	struct why why;
	struct ran r = run("echo out; echo one >&2; echo two >&2; exit 3", &took);

	is_int(r.status, 3, "the exit status is returned");
	is_str(r.out, "out\n", "the standard output is returned");
	is_str(r.said, "one two", "the standard error is returned as one line");
	free(r.out);
	r = run("kill -9 $$", &took);
	is_int(r.status, -1, "a program that a signal ended has the status -1");
	free(r.out);
	r = run("echo $PATH $HOME $SHELL_SET_BY_THE_TEST", &took);
	is_str(r.out, PROGRAM_PATH " /root\n", "the program's environment is PATH and HOME");
	free(r.out);
	is_int(program_run(nothing, &r, &why), -1, "a program that is not installed is an error");
}

static void
endless(void)
{
	int64_t took;
	struct ran r = run("exec yes", &took);

	is_int(r.status, -1, "a program that writes without end is ended");
	ok(took < 20000, "  soon (%lld ms)", (long long)took);
	ok(strlen(r.out) <= 9 * MIB, "  not all of its output is kept");
	is_str(r.said, "wrote more than 8 MiB", "  the message says why");
	free(r.out);
	r = run("exec yes >&2", &took);
	is_int(r.status, -1, "a program that writes to stderr without end is ended");
	is_str(r.said, "wrote more than 8 MiB", "  the message says why");
	free(r.out);
	/* the writing child remains; it ends when no process reads the stream any more */
	r = run("yes & exit 0", &took);
	is_int(r.status, 0, "setup returns when a program ends whose child goes on writing");
	ok(took < 20000, "  soon (%lld ms)", (long long)took);
	free(r.out);
	r = run("sleep 30 & echo $!; exit 0", &took);
	is_int(r.status, 0, "setup returns when a program ends whose child keeps its streams open");
	ok(took < 20000, "  soon (%lld ms)", (long long)took);
	(void)kill(atoi(r.out), SIGKILL);
	free(r.out);
}

int
main(void)
{
	(void)setenv("SHELL_SET_BY_THE_TEST", "set", 1);
	ordinary();
	endless();
	return done_testing();
}
