/*
 * gpu/devlist.c: which devices a devices.list allows. The lists are as the kernel writes them, and
 * with lines that it would not write.
 */
#include "gpu/devlist.h"
#include "rnd.h"
#include "tap.h"

/* The char devices of a host with NVIDIA's driver. */
#define DEVICES "Character devices:\n  1 mem\n195 nvidia\n226 drm\n510 nvidia-uvm\n\nBlock devices:\n  8 sd\n"
#define MAJOR 195U
#define MINOR 0U

/* The rules that runc gives every container; the cases add rules for a granted GPU. */
#define RUNC "c *:* m\nb *:* m\nc 1:3 rwm\nc 1:5 rwm\nc 1:7 rwm\nc 1:8 rwm\nc 1:9 rwm\nc 5:0 rwm\nc 5:2 rwm\n" \
    "c 10:200 rwm\nc 136:* rwm\n"

static const struct {
	const char *list;
	bool allows;
} lists[] = {
	/* empty lists */
	{ "", false }, { "\n", false }, { "\n\n", false },
	/* with «allow» as the default, the kernel shows no exceptions */
	{ "a *:* rwm\n", true }, { "a *:* rwm", true },
	/* the device itself */
	{ "c 195:0 rw\n", true }, { "c 195:0 rw", true }, { "c 195:0 r\n", true }, { "c 195:0 w\n", true },
	{ "c 195:0 rwm\n", true }, { "c 195:0 rm\n", true }, { "c 195:0 wm\n", true }, { "c 195:0 m\n", false },
	{ "c 195:0 m", false },
	/* wildcards */
	{ "c *:* m\n", false }, { "c *:* rwm\n", true }, { "c 195:* rw\n", true }, { "c *:0 r\n", true },
	{ "c 195:* m\n", false },
	{ "c *:1 rw\n", false }, { "c 196:* rw\n", false },
	/* other devices */
	{ "c 195:1 rw\n", false }, { "c 194:0 rw\n", false }, { "c 1950:0 rw\n", false }, { "c 19:0 rw\n", false },
	{ "c 195:00 rw\n", true /* the kernel does not write it like this */ },
	{ "c 195:255 rwm\n", false }, { "c 0:195 rw\n", false },
	/* a block device is another device even with the same numbers */
	{ "b 8:0 rwm\n", false }, { "b 195:0 rwm\n", false }, { "b *:* rwm\n", false }, { "b 8:0 rwm", false },
	/* several lines: one that allows the device is enough */
	{ RUNC, false }, { RUNC "c 195:0 rw\n", true }, { RUNC "c 195:0 rw", true }, { "c 195:0 rw\n" RUNC, true },
	{ RUNC "c 195:255 rw\nc 195:0 m\n", false }, { RUNC "c 195:255 rw\nc 195:0 m", false }, { RUNC "a *:* rwm\n", true },
	{ "b 8:0 rwm\nc 195:0 rw\n", true }, { "c 195:0 m\nc 1:3 rw\n", false }, { "\n\nc 195:0 rw\n", true },
	{ "c 1:3 rwm\n\nc 195:1 rw\n\n", false },
	/* numbers at the limit, and beyond it */
	{ "c 4294967295:4294967295 rw\n", false }, { "c 4294967295:* rw\n", false }, { "c 4294967296:0 rw\n", true },
	{ "c 195:4294967296 rw\n", true }, { "c 99999999999999999999999999:0 rw\n", true },
	{ "c 195:99999999999999999999999999 rw\n", true }, { "c 18446744073709551811:0 rw\n", true },
	{ "c 000000000000195:0 rw\n", true }, { "c 4294967491:0 m\n", true },
	/* a line that cannot be parsed counts as access to everything */
	{ "x", true }, { "x\n", true }, { "a", true }, { "c", true }, { "b", true }, { "c\n", true }, { "c 195", true },
	{ "c195:0 rw\n", true }, { "c\t195:0 rw\n", true }, { " c 1:3 rw\n", true }, { "C 1:3 rw\n", true },
	{ "p 1:3 rw\n", true },
	{ "c 1:3\n", true }, { "c 1:3", true }, { "c 1\n", true }, { "c \n", true }, { "c :\n", true }, { "c :3 rw\n", true },
	{ "c 1: rw\n", true }, { "c 1;3 rw\n", true }, { "c -1:3 rw\n", true }, { "c +1:3 rw\n", true },
	{ "c 1:-3 rw\n", true },
	{ "c 0x1:3 rw\n", true }, { "c 1:3x rw\n", true }, { "c **:3 rw\n", true }, { "c 1:*3 rw\n", true },
	{ "c 1 3 rw\n", true },
	{ "c  1:3 rw\n", true }, { "c 1:3\trw\n", true }, { "c 1:3\nc 1:5 rwm\n", true }, { "c 1\nc 1:5 rwm\n", true },
	{ "c *:*\nc 1:5 rwm\n", true }, { "c *\n", true }, { "c *:*", true }, { "c 1:3 rw\r\nx\n", true },
	{ "c 1:3 rw\ngarbage", true }, { "a *:*", true }, { RUNC "?", true },
	{ "Operation not permitted\n", true },
	/* invalid access counts as access to everything, for any device */
	{ "c 195:0 \n", true }, { "c 195:0 ", true }, { "c 1:3 \n", true }, { "c 1:3 ", true }, { "c *:* \n", true },
	{ "c 195:0 mx\n", true }, { "c 195:0 x\n", true }, { "c 195:0 M\n", true }, { "c 195:0 m \n", true },
	{ "c 195:0  m\n", true }, { "c 1:3 rwx\n", true }, { "c 1:3 m r\n", true }, { "c *:* m\t\n", true },
	{ "c 195:0 m\r\n", true }, { "c 195:0 mm\n", false }, { "c 1:3 rwmrwm\n", false }, { "a *:* x", true },
	{ "c 195:0 \nb 8:0 rwm\n", true }, { "c 195:0 m\nc 1:3 \n", true }, { "b 8:0 x\n", false }, { "b \n", false },
	{ "b 195:0\n", false },
};

static void
test_lists(void)
{
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		ok(devlist_allows(lists[i].list, MAJOR, MINOR) == lists[i].allows, "%s: %.100s%s", lists[i].allows ? "allowed" :
		    "not allowed", lists[i].list, strlen(lists[i].list) > 100 ? "..." : "");
	ok(devlist_allows("c 4294967295:4294967295 rw\n", UINT32_MAX, UINT32_MAX),
	    "the largest device number is matched");
	ok(!devlist_allows("c 4294967295:4294967294 rw\n", UINT32_MAX, UINT32_MAX),
	    "another number does not match the largest");
	ok(devlist_allows("c 0:0 w", 0, 0) && !devlist_allows("c 0:0 w", 0, 1) && !devlist_allows("c 0:0 w", 1, 0),
	    "the device number 0:0 is matched");
}

/* Random lists in the kernel's form, compared with the rules from which they were made. */
static uint64_t seed = 7;

static void
test_random(void)
{
	static const char *const access[] = { "r", "w", "m", "rw", "rm", "wm", "rwm", "", "mx", "M" };
	static const char types[] = "bc";
	unsigned round, allowed = 0, wrong = 0, last, lines, k;
	char list[512];
	size_t n;

	for (round = 0; round < 20000; round++) {
		/* one list in ten has access that the kernel does not write */
		const uint64_t one_of = rnd(10) == 0 ? 10 : 7;
		bool want = false;

		lines = (unsigned)rnd(8);
		last = (unsigned)rnd(2);
		list[0] = '\0';
		for (k = 0, n = 0; k < lines; k++) {
			const char type = types[rnd(2)], *how = access[rnd(one_of)];
			uint32_t major = (uint32_t)(194 + rnd(3)), minor = (uint32_t)rnd(3);
			bool any_major = rnd(6) == 0, any_minor = rnd(6) == 0;
			char numbers[2][16];

			snprintf(numbers[0], sizeof(numbers[0]), "%u", major);
			snprintf(numbers[1], sizeof(numbers[1]), "%u", minor);
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%c %s:%s %s%s", type, any_major ? "*" : numbers[0],
			    any_minor ? "*" : numbers[1], how, k + 1 < lines || last ? "\n" : "");
			want = want || (type == 'c' && (strspn(how, "rwm") < strlen(how) || *how == '\0' ||
			    ((any_major || major == MAJOR) && (any_minor || minor == MINOR) && strcmp(how, "m") != 0)));
		}
		allowed += want;
		if (devlist_allows(list, MAJOR, MINOR) != want && wrong++ < 3)
			ok(false, "%s: %s", want ? "allowed" : "not allowed", list);
	}
	ok(allowed > 1000 && allowed < 19000,
	    "lists of both kinds come up: %u of %u allow the device", allowed, round);
	is_int(wrong, 0, "each list gives the expected answer");
}

/* Which lists allow every GPU of a driver. */
static void
test_wide(void)
{
	static const struct {
		const char *list;
		bool wide;
	} all[] = {
		{ "", false }, { RUNC, false }, { RUNC "c 195:0 rw\nc 195:255 rw\n", false }, { "c 1:* rw\n", false },
		{ "b 195:* rw\n", false }, { "b *:* rwm\n", false }, { "c 195:* m\n", false }, { "c *:* m\n", false },
		{ "a *:* rwm\n", true }, { "c *:* rw\n", true }, { "c *:0 r\n", true }, { "c 195:* r\n", true },
		{ "c 226:* w\n", true }, { RUNC "c 510:* rw", true }, { "c 4294967297:* rw\n", true }, { "c 195:*x rw\n", true },
		{ "c 195:* x\n", true }, { "c 195:0\n", true }, { "x\n", true }, { "c 1:3 rwm\nc 195:* rw\n", true },
	};
	struct devmajors m = { 0 };
	struct why why;
	size_t i;

	is_int(devmajors_parse(DEVICES, &m, &why), 0, "the host's majors are read");
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		ok(devlist_is_wide(all[i].list, &m) == all[i].wide, "%s: %.60s",
		    all[i].wide ? "wide" : "not wide", all[i].list);
	devmajors_free(&m);
}

int
main(void)
{
	test_wide();
	test_lists();
	test_random();
	return done_testing();
}
