/* pure/idmap.c: maps ids through a user namespace's mappings, both ways, without any overflow. */
#include "pure/idmap.h"
#include "rnd.h"
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

/* The mappings of Concourse's worker. */
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

/* A random id of the inner namespace goes through both maps, and through the composed map. */
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
	ok(mapped > 5000, "%u ids went through two maps", mapped);
	is_int(wrong, 0, "each as through the composed one");
	outer = (struct idmap){ .n = 1, .v = { { 0, 100000, UINT32_MAX } } };
	inner = (struct idmap){ .n = 1, .v = { { 0, 4294967294, 1 } } };
	ok(idmap_compose(&outer, &inner, &both) && !idmap_out(&both, 0, &got), "what would wrap around stands for no one");
	inner.identity = true;
	ok(idmap_compose(&outer, &inner, &both) && both.n == 1 && both.v[0].outside == 100000, "no inner namespace: the outer map");
	inner.identity = false;
	outer.identity = true;
	ok(idmap_compose(&outer, &inner, &both) && both.n == 1 && both.v[0].outside == 4294967294, "no outer one: the inner map");
	outer = inner = (struct idmap){ 0 };
	for (n = 0; n < IDMAP_MAX; n++) {
		outer.v[outer.n++] = (struct idrange){ n * 2, n * 4, 2 };
		inner.v[inner.n++] = (struct idrange){ n * 2 + 1, n * 2 + 1, 2 };
	}
	ok(!idmap_compose(&outer, &inner, &both), "more ranges than there is room for: refused");
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
	    "the kernel's columns");
	ok(idmap_parse("0 0 4294967295\n", &m) && m.n == 1 && !m.identity, "all ids");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!idmap_parse(bad[i], &m), "no map: number %zu", i);
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
