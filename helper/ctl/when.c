/* See when.h. */
#include "when.h"

#include <string.h>
#include <time.h>

#include "../base/text.h"
#include "ctl.h"

#define SECONDS_LEAST 100000000		/* in 1973: what is less was not meant as seconds since 1970 */

/* Parses two digits; -1 if they are not a number within the range. */
static int
two(const char *s, int min, int max)
{
	int n;

	if (s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9')
		return -1;
	n = (s[0] - '0') * 10 + (s[1] - '0');
	return n >= min && n <= max ? n : -1;
}

/* Parses "Z" or "+02:00" to seconds east of Greenwich. */
static bool
read_zone(const char *s, int64_t *east)
{
	int h, m;

	*east = 0;
	if (strcmp(s, "Z") == 0 || strcmp(s, "z") == 0)
		return true;
	if ((s[0] != '+' && s[0] != '-') || (h = two(s + 1, 0, 23)) == -1 || s[3] != ':' ||
	    (m = two(s + 4, 0, 59)) == -1 || s[6] != '\0')
		return false;
	*east = (s[0] == '-' ? -60 : 60) * (h * 60 + m);
	return true;
}

bool
when_read(const char *s, int64_t *out)
{
	int century, year, month, day, hour, minute, second;
	uint64_t plain;
	int64_t east;
	struct tm tm, back;
	time_t t;

	if (text_u64(s, 253402300799, &plain)) {
		*out = (int64_t)plain;
		return true;
	}
	if (strlen(s) < strlen("2026-11-20T23:06:00Z") || s[4] != '-' || s[7] != '-' ||
	    (s[10] != 'T' && s[10] != 't' && s[10] != ' ') || s[13] != ':' || s[16] != ':' ||
	    (century = two(s, 19, 99)) == -1 || (year = two(s + 2, 0, 99)) == -1 || (month = two(s + 5, 1, 12)) == -1 ||
	    (day = two(s + 8, 1, 31)) == -1 || (hour = two(s + 11, 0, 23)) == -1 ||
	    (minute = two(s + 14, 0, 59)) == -1 || (second = two(s + 17, 0, 60)) == -1)
		return false;
	s += 19;
	if (*s == '.' && s[1] >= '0' && s[1] <= '9')
		s += 1 + strspn(s + 1, "0123456789");
	tm = (struct tm){ .tm_year = century * 100 + year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour,
		.tm_min = minute, .tm_sec = second };
	back = tm;
	/* refuse the 31st of April, which timegm() turns into the 1st of May */
	if (!read_zone(s, &east) || (t = timegm(&back)) == -1 || back.tm_mday != (second == 60 ? back.tm_mday : day))
		return false;
	*out = (int64_t)t - east;
	return true;
}

#define SPAN_MAX 253402300799	/* as long as the years have four digits */

/* The seconds of a unit of time, as systemd.time(7) names it; 0: unknown. */
static int64_t
unit_seconds(const char *name, size_t len)
{
	static const struct {
		const char *names;	/* with a space after each */
		int64_t seconds;
	} units[] = {
		{ "s sec second seconds ", 1 },
		{ "m min minute minutes ", 60 },
		{ "h hr hour hours ", 3600 },
		{ "d day days ", 86400 },
		{ "w week weeks ", 7 * 86400 },
		{ "M month months ", 2629800 },		/* a twelfth of a year */
		{ "y year years ", 31557600 },
	};
	const char *at;
	size_t i, n;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		for (at = units[i].names; (n = strcspn(at, " ")) > 0; at += n + 1)
			if (n == len && strncmp(at, name, n) == 0)
				return units[i].seconds;
	return 0;
}

/* Parses "90s", "1h30m", "7 days" or "2h 5min", with or without «ago» after it. */
static bool
read_span(const char *s, int64_t *out)
{
	int64_t unit, count;
	size_t n;

	for (*out = 0; *s != '\0'; s += strspn(s, " ")) {
		if (*out > 0 && strcmp(s, "ago") == 0)
			return true;
		for (count = 0, n = 0; s[n] >= '0' && s[n] <= '9' && n < 10; n++)
			count = count * 10 + (s[n] - '0');
		if (n == 0)
			return false;
		s += n;
		s += strspn(s, " ");
		n = strspn(s, "abcdefghijklmnopqrstuvwxyzM");
		if ((unit = unit_seconds(s, n)) == 0)
			return false;
		*out += count * unit;
		s += n;
		if (*out > SPAN_MAX)
			return false;
	}
	return *out > 0;
}

/* The local midnight before or at «at», and so many days earlier. */
static bool
midnight(int64_t at, int days, int64_t *out)
{
	const time_t t = (time_t)at;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL)
		return false;
	tm.tm_mday -= days;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	*out = (int64_t)mktime(&tm);
	return *out != -1;
}

/* Parses "2026-11-25", "2026-11-25 08:30" or "2026-11-25 08:30:00", in local time. */
static bool
read_local(const char *s, int64_t *out)
{
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S" };
	struct tm tm, back;
	const char *end;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		tm = (struct tm){ .tm_isdst = -1 };
		if ((end = strptime(s, forms[i], &tm)) == NULL || *end != '\0')
			continue;
		back = tm;
		*out = (int64_t)mktime(&back);
		/* refuse the 31st of April, which mktime() turns into the 1st of May */
		return *out != -1 && back.tm_mday == tm.tm_mday;
	}
	return false;
}

bool
when_read_ago(const char *s, int64_t now, int64_t *out)
{
	uint64_t plain;
	int64_t span;

	if (strcmp(s, "now") == 0) {
		*out = now;
		return true;
	}
	if (strcmp(s, "today") == 0)
		return midnight(now, 0, out);
	if (strcmp(s, "yesterday") == 0)
		return midnight(now, 1, out);
	/* a small number is most likely meant as days */
	if (text_u64(s, UINT64_MAX, &plain) && plain < SECONDS_LEAST)
		return false;
	if (when_read(s, out) || read_local(s, out))
		return true;
	if (!read_span(s + (*s == '-'), &span))
		return false;
	*out = now - span;
	return true;
}

int
when_option(const struct options *o, const char *command, const char *option, const char *s, int64_t now,
    int64_t *out)
{
	if (s == NULL || when_read_ago(s, now, out))
		return 0;
	return misuse(o, "%s: %s must be like 30m, 1h30m, 7d, \"7 days\", today, yesterday, 2026-11-25 or "
	    "2026-11-20T23:06:00Z, not \"%s\"", command, option, s);
}
