/* ctl/setup_run.c: what a program said and how it ended, whatever it does to keep setup waiting. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/setup.h"
#include "host/clock.h"
#include "tap.h"

#define MIB (1024 * 1024)

/* Runs a script; how long that took goes to *took, in milliseconds. */
static struct ran
run(const char *script, int64_t *took)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	const int64_t began = clock_ms();
	struct ran r;
	struct why why;

	if (setup_run(argv, &r, &why) == -1) {
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

	is_int(r.status, 3, "the exit status");
	is_str(r.out, "out\n", "what it wrote");
	is_str(r.said, "one two", "and on stderr, as one line");
	free(r.out);
	r = run("kill -9 $$", &took);
	is_int(r.status, -1, "a signal ended it");
	free(r.out);
	r = run("echo $PATH $HOME $SHELL_SET_BY_THE_TEST", &took);
	is_str(r.out, SETUP_PATH " /root\n", "its environment is PATH and HOME");
	free(r.out);
	is_int(setup_run(nothing, &r, &why), -1, "a program that is not installed");
}

static void
endless(void)
{
	int64_t took;
	struct ran r = run("exec yes", &took);

	is_int(r.status, -1, "an endless writer is ended");
	ok(took < 20000, "soon (%lld ms)", (long long)took);
	ok(strlen(r.out) <= 9 * MIB, "and not all of it is kept");
	is_str(r.said, "wrote more than 8 MiB", "and setup says why");
	free(r.out);
	r = run("exec yes >&2", &took);
	is_int(r.status, -1, "an endless writer on stderr is ended");
	is_str(r.said, "wrote more than 8 MiB", "and setup says why");
	free(r.out);
	/* the writer is left over; a stream that nobody reads any more ends it */
	r = run("yes & exit 0", &took);
	is_int(r.status, 0, "a program that has ended, whose child goes on writing, has ended");
	ok(took < 20000, "soon (%lld ms)", (long long)took);
	free(r.out);
	r = run("sleep 30 & echo $!; exit 0", &took);
	is_int(r.status, 0, "a program that has ended, whose child keeps its streams open, has ended");
	ok(took < 20000, "soon (%lld ms)", (long long)took);
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
