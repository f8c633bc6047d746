/*
 * look/walk.c: visits each process once, in another order each time, and also processes that start
 * during the walk. It reports whether it had to wait.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "look/walk.h"
#include "tap.h"

#define CHILDREN 24
#define ORDER_MAX 65536

static pid_t child[CHILDREN + 1];

static pid_t
begin_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void
end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static unsigned
count(const pid_t *v, size_t n, pid_t pid)
{
	unsigned found = 0;
	size_t i;

	for (i = 0; i < n; i++)
		found += v[i] == pid;
	return found;
}

/* Returns everything that a walk visits. After the first visit another child starts. */
static size_t
walk_all(pid_t *order, pid_t *late)
{
	autowalk struct walk w;
	char pid[16];
	size_t n = 0;

	walk_begin(&w);
	while (n < ORDER_MAX && walk_next(&w, pid)) {
		order[n++] = (pid_t)atoi(pid);
		if (n == 1)
			*late = begin_child();
	}
	ok(!w.failed, "/proc is read");
	return n;
}

/* The children alone, in the order of the visits. */
static void
order_of_children(const pid_t *order, size_t n, pid_t out[CHILDREN])
{
	size_t i, k, found = 0;

	for (i = 0; i < n; i++)
		for (k = 0; k < CHILDREN && found < CHILDREN; k++)
			if (order[i] == child[k])
				out[found++] = order[i];
}

static void
test_all_are_met(void)
{
	static pid_t order[ORDER_MAX];
	pid_t first[CHILDREN] = { 0 }, second[CHILDREN] = { 0 }, late = 0;
	unsigned once = 0;
	size_t i, n;

	n = walk_all(order, &late);
	for (i = 0; i < CHILDREN; i++)
		once += count(order, n, child[i]) == 1;
	is_int(once, CHILDREN, "each process is visited once");
	is_int(count(order, n, getpid()), 1, "the walking process itself is visited");
	is_int(count(order, n, late), 1, "a process that starts during the walk is visited");
	end_child(late);
	order_of_children(order, n, first);
	n = walk_all(order, &late);
	end_child(late);
	order_of_children(order, n, second);
	/* two equal orders of 24 by chance are practically impossible */
	ok(memcmp(first, second, sizeof(first)) != 0 && memcmp(first, child, sizeof(first)) != 0,
	    "each walk has another order");
}

static void
test_waits_show(void)
{
	const struct timespec moment = { .tv_nsec = 2000000 };
	pid_t slow = 0, met = 0;
	char pid[16];
	size_t n = 0;
	unsigned tries;

	for (tries = 0; tries < 50; tries++) {
		autowalk struct walk w;

		walk_begin(&w);
		while (walk_next(&w, pid))
			continue;
		if (w.kept_waiting == 0)
			break;
	}
	ok(tries < 50, "a walk without waits reports none, at attempt %u", tries + 1);
	{
		autowalk struct walk w;

		walk_begin(&w);
		while (walk_next(&w, pid))
			if (++n == 5) {
				met = (pid_t)atoi(pid);
				nanosleep(&moment, NULL);
				slow = met;
			}
		ok(slow != 0 && w.kept_waiting != 0, "a walk that had to wait reports it");
	}
}

static void
test_no_end(void)
{
	autowalk struct walk w;
	char pid[16];
	pid_t more[64];
	size_t n = 0, i;

	/* each time the last process was visited, another one starts */
	walk_begin(&w);
	while (walk_next(&w, pid))
		if (w.next == w.pids && n < 64)
			more[n++] = begin_child();
	ok(n >= 3 && n < 64 && w.kept_waiting != 0,
	    "a walk ends although new processes keep starting, and reports a wait: %zu", n);
	for (i = 0; i < n; i++)
		end_child(more[i]);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < CHILDREN; i++)
		child[i] = begin_child();
	test_all_are_met();
	test_waits_show();
	test_no_end();
	for (i = 0; i < CHILDREN; i++)
		end_child(child[i]);
	return done_testing();
}
