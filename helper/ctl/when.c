/* See when.h. */
#include "when.h"

#include <string.h>
#include <time.h>

#include "../pure/text.h"

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

bool
when_read_ago(const char *s, int64_t now, int64_t *out)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	const size_t n = strlen(s);
	char number[16];
	uint32_t count;
	size_t i;

	for (i = 0; n > 1 && n < sizeof(number) && i < sizeof(units) / sizeof(units[0]); i++) {
		if (s[n - 1] != units[i].letter)
			continue;
		memcpy(number, s, n - 1);
		number[n - 1] = '\0';
		if (!text_u32(number, 0, 1000000000, &count))
			return false;
		*out = now - (int64_t)count * units[i].seconds;
		return true;
	}
	return when_read(s, out);
}
