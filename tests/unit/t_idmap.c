/* pure/idmap.c: ids through a user namespace's mappings, both ways, without a wrap anywhere. */
#include "pure/idmap.h"
#include "tap.h"

static struct idmap map;	/* large: not on the stack */

static void
add(uint32_t inside, uint32_t outside, uint32_t size)
{
	map.v[map.n++] = (struct idrange){ inside, outside, size };
}

/* UINT32_MAX stands for «none». */
static void
check(uint32_t inside, uint32_t outside, const char *what)
{
	uint32_t got = UINT32_MAX;

	ok(idmap_out(&map, inside, &got) == (outside != UINT32_MAX) && got == outside, "%u inside: %s", inside, what);
}

static void
check_in(uint32_t outside, uint32_t inside, const char *what)
{
	uint32_t got = UINT32_MAX;

	ok(idmap_in(&map, outside, &got) == (inside != UINT32_MAX) && got == inside, "%u outside: %s", outside, what);
}

static void
test_identity(void)
{
	uint32_t got;

	map = (struct idmap){ .identity = true };
	check(0, 0, "root is root");
	check(1000, 1000, "and everyone himself");
	check(UINT32_MAX - 1, UINT32_MAX - 1, "up to the last id");
	check_in(7, 7, "the other way too");
	got = 5;
	ok(!idmap_out(&map, UINT32_MAX, &got), "-1 is no id");
	ok(!idmap_in(&map, UINT32_MAX, &got), "nor from outside");
}

/* What Concourse's worker writes. */
static void
test_concourse(void)
{
	map = (struct idmap){ 0 };
	check(0, UINT32_MAX, "no mapping, no id");
	check_in(0, UINT32_MAX, "neither way");
	add(0, 4294967294, 1);
	add(1, 1, 4294967293);
	check(0, 4294967294, "root is the last id");
	check(1, 1, "the others themselves");
	check(4294967293, 4294967293, "up to the last but one");
	check(4294967294, UINT32_MAX, "which is all");
	check_in(4294967294, 0, "the last id is root");
	check_in(0, UINT32_MAX, "the host's root is no one");
	check_in(1, 1, "the others themselves");
}

static void
test_edges(void)
{
	map = (struct idmap){ 0 };
	add(0, 100000, 1000);
	add(5000, 0, 0);
	add(6000, 4294967290, 100);
	add(4294967290, 7, 100);
	check(999, 100999, "the last of a range");
	check(1000, UINT32_MAX, "and no further");
	check(5000, UINT32_MAX, "a range of no ids holds none");
	check(6004, 4294967294, "up to the last id there is");
	check(6005, UINT32_MAX, "-1 is no id");
	check(6006, UINT32_MAX, "and nothing wraps around to 0");
	check(6099, UINT32_MAX, "however far");
	check_in(4294967294, 6004, "the way back");
	check_in(0, UINT32_MAX, "nothing wraps around there");
	check(4294967294, 11, "a range that ends beyond the last id has its beginning");
	check(UINT32_MAX, UINT32_MAX, "-1 stands for no one, whatever a mapping says");
	check_in(12, UINT32_MAX, "nor does anyone stand for it");
	check_in(99999, UINT32_MAX, "just before a range");
	check_in(100000, 0, "its first");
	check_in(100999, 999, "its last");
	check_in(101000, UINT32_MAX, "just behind");
	map = (struct idmap){ 0 };
	add(0, 10, 5);
	add(0, 20, 5);
	check(0, 10, "of two mappings the first counts");
	map.v[map.n] = (struct idrange){ 500, 600, 1 };
	check(500, UINT32_MAX, "what is behind the last mapping is none");
	check_in(600, UINT32_MAX, "neither way");
	map = (struct idmap){ 0 };
	while (map.n < IDMAP_MAX)
		add((uint32_t)map.n * 2, (uint32_t)(1000 + map.n), 1);
	check(2 * (IDMAP_MAX - 1), 1000 + IDMAP_MAX - 1, "the last of as many as the kernel takes");
}

int
main(void)
{
	test_identity();
	test_concourse();
	test_edges();
	return done_testing();
}
