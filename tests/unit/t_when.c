/* ctl/when.c: the times that --since and --until take. */
#include "ctl/when.h"

#include <stdlib.h>
#include <time.h>

#include "tap.h"

#define NOW 1795600000		/* 2026-11-25T09:46:40Z */

static void
test_read(void)
{
	static const struct {
		const char *text;
		int64_t want;
	} t[] = {
		{ "now", NOW }, { "90s", NOW - 90 }, { "30m", NOW - 1800 }, { "12h", NOW - 43200 }, { "7d", NOW - 604800 },
		{ "1w", NOW - 604800 }, { "7 days", NOW - 604800 }, { "1 day", NOW - 86400 }, { "1h30m", NOW - 5400 },
		{ "1h 30min", NOW - 5400 }, { "2 weeks ago", NOW - 1209600 }, { "1h30m ago", NOW - 5400 }, { "-2h", NOW - 7200 },
		{ "5 minutes", NOW - 300 }, { "1month", NOW - 2629800 }, { "1y", NOW - 31557600 }, { "0s1s", NOW - 1 },
		{ "today", 1795564800 }, { "yesterday", 1795478400 }, { "2026-11-25", 1795564800 }, { "2026-11-25 08:30", 1795595400 },
		{ "2026-11-25 08:30:05", 1795595405 }, { "2026-11-20T23:06:00Z", 1795215960 }, { "2026-11-20 23:06:00Z", 1795215960 },
		{ "1795215960", 1795215960 }, { "100000000", 100000000 },
	};
	static const char *const wrong[] = { "7", "30", "0", "99999999", "", " ", "-", "ago", "7x", "d", "7 d x", "x7d", "1h30",
		"2026-04-31", "2026-13-01", "2026-11-25x", "tomorrow", "7D", "1.5h", "99999999999d", "-7", "h1" };
	int64_t got;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		got = 0;
		ok(when_read_ago(t[i].text, NOW, &got) && got == t[i].want, "\"%s\" is %lld: %lld", t[i].text, (long long)t[i].want,
		    (long long)got);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(!when_read_ago(wrong[i], NOW, &got), "\"%s\" is refused", wrong[i]);
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	test_read();
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	{
		int64_t got = 0;

		ok(when_read_ago("2026-11-25", NOW, &got) && (got == 1795561200 || got == 1795564800),
		    "a date is local (or UTC where the zones are not installed): %lld", (long long)got);
	}
	return done_testing();
}
