/*
 * kernel/secontext.c: splits and joins labels, compares levels, and draws pairs of two different
 * categories.
 */
#include "kernel/secontext.h"
#include "tap.h"

static void
test_labels(void)
{
	static const char *const good[] = { "system_u:system_r:container_t:s0:c1,c2",
		"unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023", "u:r:t", "system_u:object_r:device_t:s0" };
	static const char *const bad[] = { "", ":", "u:r", "u:r:", "u::t:s0", ":r:t:s0", "u:r:t:", "u:r:t:x", "u:r:t:s0:",
		"u:r:t s:s0", "u:r:t:s0:c1 ", "u:r:t:s0\n", "\xc3\xa4:r:t:s0", "u:r:t:s0:c1,", "a b:r:t:s0", "u:r:t:SystemHigh" };
	char text[SECONTEXT_MAX], longest[400];
	struct secontext c;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ok(secontext_parse(good[i], &c), "%s is parsed as a label", good[i]);
		ok(secontext_format(&c, text) && strcmp(text, good[i]) == 0,
		    "  the label is formatted as it was");
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!secontext_parse(bad[i], &c), "«%s» is refused as a label", bad[i]);
	ok(secontext_parse(good[0], &c) && strcmp(c.user, "system_u") == 0 && strcmp(c.role, "system_r") == 0 &&
	    strcmp(c.type, "container_t") == 0 && strcmp(c.level, "s0:c1,c2") == 0,
	    "the parts of a label are read");
	memset(longest, 'a', sizeof(longest));
	longest[1] = longest[3] = ':';
	longest[sizeof(longest) - 1] = '\0';
	ok(!secontext_parse(longest, &c), "a label that is too long is refused");
	memset(c.user, 'a', sizeof(c.user) - 1);
	memset(c.role, 'a', sizeof(c.role) - 1);
	memset(c.type, 'a', sizeof(c.type) - 1);
	c.user[sizeof(c.user) - 1] = c.role[sizeof(c.role) - 1] = c.type[sizeof(c.type) - 1] = '\0';
	snprintf(c.level, sizeof(c.level), "s0:c1,c2");
	ok(!secontext_format(&c, text), "parts that make too long a label are refused");
	ok(secontext_is_type("nvidia_container_t") && secontext_is_type("a"),
	    "types are recognised");
	ok(!secontext_is_type("") && !secontext_is_type("a:b") && !secontext_is_type("1a") && !secontext_is_type("a b") &&
	    !secontext_is_type("a\n"), "other texts are no types");
}

static void
test_levels(void)
{
	static const struct {
		const char *level;
		enum level_kind kind;
	} t[] = {
		{ "s0", LEVEL_PLAIN }, { "s15", LEVEL_PLAIN }, { "s0:c1", LEVEL_CATEGORIES }, { "s0:c1,c2", LEVEL_CATEGORIES },
		{ "s0:c1023,c0,c7", LEVEL_CATEGORIES }, { "s0:c0.c1023", LEVEL_RANGE }, { "s0:c1,c4.c6", LEVEL_RANGE },
		{ "s0-s0", LEVEL_RANGE }, { "s0-s0:c0.c1023", LEVEL_RANGE }, { "s0:c1-s0:c1,c2", LEVEL_RANGE },
		{ "", LEVEL_WRONG }, { "s", LEVEL_WRONG }, { "c1", LEVEL_WRONG }, { "s0:", LEVEL_WRONG },
		{ "s0:c", LEVEL_WRONG }, { "s0:c1,", LEVEL_WRONG }, { "s0:c1.", LEVEL_WRONG }, { "s0-", LEVEL_WRONG },
		{ "s0-s0-s0", LEVEL_WRONG }, { "s0:c1,s0", LEVEL_WRONG }, { "s00000", LEVEL_WRONG }, { "s0 ", LEVEL_WRONG },
		{ "s0:c1:c2", LEVEL_WRONG }, { "auto", LEVEL_WRONG },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		is_int(level_kind(t[i].level), t[i].kind, "the kind of level «%s»", t[i].level);
}

/* A process with all categories of another one can use its files. Equality is not the only case. */
static void
test_overlap(void)
{
	static const struct {
		const char *a, *b;
		bool overlap;
	} t[] = {
		{ "s0:c1,c2", "s0:c1,c2", true }, { "s0:c1,c2", "s0:c2,c1", true }, { "s0:c1,c2,c3", "s0:c1,c2", true },
		{ "s0:c1.c3", "s0:c2,c3", true }, { "s0:c1", "s0:c1,c2", true }, { "s0:c1,c1", "s0:c1", true },
		{ "s0:c01,c2", "s0:c1,c2", true }, { "s0-s0:c0.c1023", "s0:c7,c1022", true }, { "s0:c1,c2", "s0:c1,c3", false },
		{ "s0:c1,c12", "s0:c1,c2", false }, { "s0:c1.c3", "s0:c3,c4", false }, { "s0:c1,c2", "s0:c3,c4", false },
		{ "s0", "s0:c1,c2", false }, { "s0", "s0", false }, { "", "s0:c1", false }, { "s0:c9.c5", "s0:c6", false },
		{ "s0:c9999", "s0:c9999,c1", true },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		is_int(level_overlaps(t[i].a, t[i].b), t[i].overlap,
		    "whether «%s» and «%s» overlap", t[i].a, t[i].b);
		is_int(level_overlaps(t[i].b, t[i].a), t[i].overlap,
		    "  the answer is the same in the other order");
	}
	is_int(level_categories("s0"), 0, "s0 has no categories");
	is_int(level_categories("s0:c5,c5"), 1, "a category that is named twice counts once");
	is_int(level_categories("s0:c1.c3,c9"), 4, "a range counts all its categories");
}

static void
test_pairs(void)
{
	static bool seen[SECONTEXT_CATEGORIES];
	unsigned a, b, wrong = 0, least = SECONTEXT_CATEGORIES, most = 0;
	char level[32], end;
	uint32_t i;

	for (i = 0; i < 1U << 20; i++) {
		level_pair(i * 4099U, level);
		if (sscanf(level, "s0:c%u,c%u%c", &a, &b, &end) != 2 || a >= b || b >= SECONTEXT_CATEGORIES) {
			wrong++;
			continue;
		}
		seen[a] = seen[b] = true;
		least = a < least ? a : least;
		most = b > most ? b : most;
	}
	is_int(wrong, 0, "a million draws give two categories each, the lower one first");
	is_int(least, 0, "the lowest category is drawn");
	is_int(most, SECONTEXT_CATEGORIES - 1, "the highest category is drawn");
	for (i = 0; i < SECONTEXT_CATEGORIES && seen[i]; i++)
		;
	is_int(i, SECONTEXT_CATEGORIES, "each category is drawn");
	level_pair(UINT32_MAX, level);
	ok(level_kind(level) == LEVEL_CATEGORIES, "%s", level);
}

int
main(void)
{
	test_labels();
	test_levels();
	test_overlap();
	test_pairs();
	return done_testing();
}
