/*
 * kernel/idmap.c: maps ids through the mappings of a user namespace, in both directions, without
 * overflow.
 */
#include "kernel/idmap.h"
#include "rnd.h"
#include "tap.h"

static struct idmap map;	/* large, so not on the stack */

static void
add(uint32_t inside, uint32_t outside, uint32_t size)
{
	map.v[map.n++] = (struct idrange){ inside, outside, size };
}

/* UINT32_MAX means that there is no such id. */
static void
check(uint32_t inside, uint32_t outside, const char *what)
{
	uint32_t got = UINT32_MAX;

	ok(idmap_out(&map, inside, &got) == (outside != UINT32_MAX) && got == outside,
	    "id %u inside: %s", inside, what);
}

static void
check_in(uint32_t outside, uint32_t inside, const char *what)
{
	uint32_t got = UINT32_MAX;

	ok(idmap_in(&map, outside, &got) == (inside != UINT32_MAX) && got == inside,
	    "id %u outside: %s", outside, what);
}

static void
test_identity(void)
{
	uint32_t got;

	map = (struct idmap){ .identity = true };
	check(0, 0, "root is mapped to root");
	check(1000, 1000, "an id is mapped to itself");
	check(UINT32_MAX - 1, UINT32_MAX - 1, "the last id is mapped to itself");
	check_in(7, 7, "an id is mapped back to itself");
	got = 5;
	ok(!idmap_out(&map, UINT32_MAX, &got), "-1 is not mapped out");
	ok(!idmap_in(&map, UINT32_MAX, &got), "-1 is not mapped in");
}

/* The mappings of a Concourse worker. */
static void
test_concourse(void)
{
	map = (struct idmap){ 0 };
	check(0, UINT32_MAX, "an id without a mapping is not mapped out");
	check_in(0, UINT32_MAX, "an id without a mapping is not mapped in");
	add(0, 4294967294, 1);
	add(1, 1, 4294967293);
	check(0, 4294967294, "root is mapped to the last id");
	check(1, 1, "another id is mapped to itself");
	check(4294967293, 4294967293, "the last id but one is mapped to itself");
	check(4294967294, UINT32_MAX, "the last id is not mapped out");
	check_in(4294967294, 0, "the last id is mapped back to root");
	check_in(0, UINT32_MAX, "the host's root is not mapped in");
	check_in(1, 1, "another id is mapped back to itself");
}

static void
test_edges(void)
{
	map = (struct idmap){ 0 };
	add(0, 100000, 1000);
	add(5000, 0, 0);
	add(6000, 4294967290, 100);
	add(4294967290, 7, 100);
	check(999, 100999, "the last id of a range is mapped");
	check(1000, UINT32_MAX, "the id after a range is not mapped");
	check(5000, UINT32_MAX, "an empty range maps no id");
	check(6004, 4294967294, "the last valid id is mapped");
	check(6005, UINT32_MAX, "-1 is not mapped");
	check(6006, UINT32_MAX, "an id that would wrap around to 0 is not mapped");
	check(6099, UINT32_MAX, "an id that would wrap around farther is not mapped");
	check_in(4294967294, 6004, "the last valid id is mapped back");
	check_in(0, UINT32_MAX, "no id wraps around on the way back");
	check(4294967294, 11, "a range that ends beyond the last id maps its beginning");
	check(UINT32_MAX, UINT32_MAX, "-1 is not mapped even if a range contains it");
	check_in(12, UINT32_MAX, "no id is mapped to -1");
	check_in(99999, UINT32_MAX, "the id before a range is not mapped back");
	check_in(100000, 0, "the first id of a range is mapped back");
	check_in(100999, 999, "the last id of a range is mapped back");
	check_in(101000, UINT32_MAX, "the id after a range is not mapped back");
	map = (struct idmap){ 0 };
	add(0, 10, 5);
	add(0, 20, 5);
	check(0, 10, "of two mappings, the first counts");
	map.v[map.n] = (struct idrange){ 500, 600, 1 };
	check(500, UINT32_MAX, "an entry after the last mapping is ignored");
	check_in(600, UINT32_MAX, "an entry after the last mapping is ignored on the way back");
	map = (struct idmap){ 0 };
	while (map.n < IDMAP_MAX)
		add((uint32_t)map.n * 2, (uint32_t)(1000 + map.n), 1);
	check(2 * (IDMAP_MAX - 1), 1000 + IDMAP_MAX - 1,
	    "the last of the kernel's greatest number of mappings counts");
}

/* Maps random ids through both maps one after the other, and through the composed map. */
static void
test_compose(void)
{
	static struct idmap outer, inner, both;
	uint32_t id, mid, far, got;
	unsigned wrong = 0, mapped = 0, n;
	uint64_t k;

	for (n = 0; n < 2000; n++) {
		outer = inner = (struct idmap){ 0 };
		for (k = rnd(4); k > 0; k--) {
			outer.v[outer.n++] = (struct idrange){ (uint32_t)(k * 20 + rnd(8)), (uint32_t)(k * 50 + rnd(9)), (uint32_t)rnd(12) };
			inner.v[inner.n++] = (struct idrange){ (uint32_t)(k * 15 + rnd(4)), (uint32_t)(k * 20 + rnd(9)), (uint32_t)rnd(11) };
		}
		if (!idmap_compose(&outer, &inner, &both))
			wrong++;
		for (id = 0; id < 90; id++) {
			bool through = idmap_out(&inner, id, &mid) && idmap_out(&outer, mid, &far);

			if (idmap_out(&both, id, &got) != through || (through && got != far))
				wrong++;
			mapped += through;
		}
	}
	ok(mapped > 5000, "%u ids are mapped by both maps", mapped);
	is_int(wrong, 0, "the composed map gives the same ids");
	outer = (struct idmap){ .n = 1, .v = { { 0, 100000, UINT32_MAX } } };
	inner = (struct idmap){ .n = 1, .v = { { 0, 4294967294, 1 } } };
	ok(idmap_compose(&outer, &inner, &both) && !idmap_out(&both, 0, &got),
	    "an id that would wrap around is not mapped");
	inner.identity = true;
	ok(idmap_compose(&outer, &inner, &both) && both.n == 1 && both.v[0].outside == 100000,
	    "without an inner namespace, the outer map is the result");
	inner.identity = false;
	outer.identity = true;
	ok(idmap_compose(&outer, &inner, &both) && both.n == 1 && both.v[0].outside == 4294967294,
	    "without an outer namespace, the inner map is the result");
	outer = inner = (struct idmap){ 0 };
	for (n = 0; n < IDMAP_MAX; n++) {
		outer.v[outer.n++] = (struct idrange){ n * 2, n * 4, 2 };
		inner.v[inner.n++] = (struct idrange){ n * 2 + 1, n * 2 + 1, 2 };
	}
	ok(!idmap_compose(&outer, &inner, &both), "a composed map with too many ranges is refused");
}

static void
test_parse(void)
{
	static const char *const bad[] = { "", "\n", "0", "0 1\n", "0 1 2", "0 1 2 3\n", "-1 0 1\n", "0 0 4294967296\n", "a b c\n",
		"0 0 1\n\n", "0 0 1\nx\n", "0x0 0 1\n" };
	static struct idmap m;
	size_t i;

	ok(idmap_parse("         0       1000          1\n         1     100000      65536\n", &m) && m.n == 2 &&
	    m.v[0].outside == 1000 && m.v[1].inside == 1 && m.v[1].outside == 100000 && m.v[1].size == 65536,
	    "a map in the kernel's columns is read");
	ok(idmap_parse("0 0 4294967295\n", &m) && m.n == 1 && !m.identity,
	    "a map of all ids is read");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!idmap_parse(bad[i], &m), "a malformed map is refused: number %zu", i);
}

int
main(void)
{
	test_identity();
	test_concourse();
	test_edges();
	test_compose();
	test_parse();
	return done_testing();
}
