/*
 * look/copies.c: copies of this process report what they found, and one that was ended, or did not see all, reports
 * nothing.
 */
#include <signal.h>
#include <unistd.h>

#include "look/copies.h"
#include "tap.h"

/* A copy that names itself as the opener of the second node. */
static void
begin(struct copies *c, bool seen, bool killed)
{
	struct copy_part *part;

	if (copy_begin(c, &part) != 1)
		return;
	part->at = getpid();
	part->opener[1] = -getpid();
	part->slow = 7;
	if (killed)
		raise(SIGKILL);
	copy_end(seen);
}

static void
test_parts(void)
{
	struct copies c = { .n = 0 };
	const struct copy_part *part;
	volatile pid_t at = 0;
	size_t i;

	for (i = 0; i < COPIES_MAX; i++)
		begin(&c, i != 1, i == 2);
	ok(c.n == COPIES_MAX, "as many copies start as may");
	begin(&c, true, false);
	ok(c.n == COPIES_MAX, "and no more");
	part = copy_await(&c, 0, &at);
	ok(part != NULL && part->opener[1] == -c.pid[0] && part->opener[0] == 0 && part->slow == 7 && part->unsteady == 0,
	    "what a copy found is heard");
	ok(at == c.pid[0], "  and which process it looked at");
	ok(copy_await(&c, 1, &at) == NULL && at == c.pid[1], "of a copy that did not see all, only that");
	ok(copy_await(&c, 2, &at) == NULL && at == c.pid[2], "and of one that was killed");
	c.n = 0;
	begin(&c, true, false);
	part = copy_await(&c, 0, &at);
	ok(part != NULL && part->opener[1] == -c.pid[0], "the next copies begin anew");
}

static void
test_number(void)
{
	ok(copies_wanted(0, 1) == 0 && copies_wanted(100, 1) == 0, "few processes need no copy");
	ok(copies_wanted(100000, COPY_NODES_MAX + 1) == 0, "nor do more nodes than a copy can report");
	ok(copies_wanted(100000, 1) <= COPIES_MAX, "there are never more than may start");
	ok(copies_wanted(100000, 1) > 0 || sysconf(_SC_NPROCESSORS_ONLN) < 2, "many processes are shared out");
}

int
main(void)
{
	ok(copies_wanted(100000, 1) == 0, "without the shared memory there are no copies");
	copies_prepare();
	test_number();
	test_parts();
	return done_testing();
}
