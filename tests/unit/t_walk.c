/*
 * host/walk.c: visits each process once, in a different order each time, also processes that start meanwhile; reports
 * waits.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/walk.h"
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

/* Everything that a walk visits; another child starts when it has visited the first one. */
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
	ok(!w.failed, "/proc can be read");
	return n;
}

/* Only the children, in the order of the visits. */
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
	is_int(once, CHILDREN, "each process is met once");
	is_int(count(order, n, getpid()), 1, "who walks is one of them");
	is_int(count(order, n, late), 1, "one that begins during the walk is met, too");
	end_child(late);
	order_of_children(order, n, first);
	n = walk_all(order, &late);
	end_child(late);
	order_of_children(order, n, second);
	/* two equal orders of 24 by chance are as good as impossible */
	ok(memcmp(first, second, sizeof(first)) != 0 && memcmp(first, child, sizeof(first)) != 0, "in another order each time");
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
	ok(tries < 50, "a walk that nobody keeps waiting says so, at the %u. try", tries + 1);
	{
		autowalk struct walk w;

		walk_begin(&w);
		while (walk_next(&w, pid))
			if (++n == 5) {
				met = (pid_t)atoi(pid);
				nanosleep(&moment, NULL);
				slow = met;
			}
		ok(slow != 0 && w.kept_waiting != 0, "one that had to wait says so");
	}
}

static void
test_no_end(void)
{
	autowalk struct walk w;
	char pid[16];
	pid_t more[64];
	size_t n = 0, i;

	/* as soon as the last one was visited, another one starts */
	walk_begin(&w);
	while (walk_next(&w, pid))
		if (w.next == w.pids && n < 64)
			more[n++] = begin_child();
	ok(n >= 3 && n < 64 && w.kept_waiting != 0, "a walk that new processes would never let end ends, and counts as one that waited: %zu", n);
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
