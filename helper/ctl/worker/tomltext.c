/* See tomltext.h. */
#include "tomltext.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

int
toml_refuse(const struct toml_text *x, const char *what)
{
	return refuse(x->why, WHY_CONFIG, "%s:%u: %s", x->file, x->line, what);
}

void
toml_skip_spaces(struct toml_text *x)
{
	x->at += strspn(x->at, " \t");
}

/* True for the control characters that neither a comment nor a string may have; the end of a line is another matter. */
static bool
is_control(unsigned char c)
{
	return (c < ' ' && c != '\t') || c == 0x7f;
}

/* The length of the line's end here: 0, 1 (\n) or 2 (\r\n). */
static size_t
line_end(const char *s)
{
	return *s == '\n' ? 1 : *s == '\r' && s[1] == '\n' ? 2 : 0;
}

int
toml_end_line(struct toml_text *x)
{
	size_t n;

	toml_skip_spaces(x);
	if (*x->at == '#')
		while (!is_control((unsigned char)*x->at))
			x->at++;
	n = line_end(x->at);
	if (n == 0 && *x->at != '\0')
		return toml_refuse(x, "something stands where the line should end");
	x->at += n;
	x->line += n > 0;
	return 0;
}

int
toml_skip_lines(struct toml_text *x)
{
	for (;;) {
		toml_skip_spaces(x);
		if (*x->at != '#' && line_end(x->at) == 0)
			return 0;
		if (toml_end_line(x) == -1)
			return -1;
	}
}

/* Adds the character as UTF-8.  False: it is no character, or NUL. */
static bool
add_character(struct buf *out, unsigned long c)
{
	const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	char b[4] = { (char)c };
	size_t i;

	if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return false;
	for (i = n - 1; i > 0; i--, c >>= 6)
		b[i] = (char)(0x80 | (c & 0x3f));
	if (n > 1)
		b[0] = (char)((0xf00 >> n) | c);
	buf_add(out, b, n);
	return true;
}

/* Reads the digits of \u or \U. */
static int
read_code(struct toml_text *x, size_t digits, struct buf *out)
{
	char hex[9] = "";

	if (strspn(x->at, DIGITS "abcdefABCDEF") < digits)
		return toml_refuse(x, "\\u needs four and \\U eight hexadecimal digits");
	memcpy(hex, x->at, digits);
	x->at += digits;
	return add_character(out, strtoul(hex, NULL, 16)) ? 0 : toml_refuse(x, "\\u and \\U need a character that is not NUL");
}

/* Reads an escape after its backslash.  Where lines may be, a backslash at the end of one joins it to the next. */
static int
read_escape(struct toml_text *x, bool lines, struct buf *out)
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
	const char *found = *x->at != '\0' ? strchr(from, *x->at) : NULL;
	size_t n;

	if (found != NULL) {
		x->at++;
		buf_add(out, &to[found - from], 1);
		return 0;
	}
	if (*x->at == 'u' || *x->at == 'U')
		return read_code(x, *x->at++ == 'u' ? 4 : 8, out);
	if (lines && line_end(x->at + strspn(x->at, " \t")) > 0) {
		for (;;) {
			toml_skip_spaces(x);
			if ((n = line_end(x->at)) == 0)
				return 0;
			x->at += n;
			x->line++;
		}
	}
	return toml_refuse(x, "there is no such escape: \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX");
}

/* Reads up to three quotation marks: the end.  Up to two more belong to the text. */
static bool
ends_lines(struct toml_text *x, char quote, struct buf *out)
{
	const char three[] = { quote, quote, quote, '\0' };
	size_t n = strspn(x->at, three + 2);

	if (n < 3) {
		buf_add(out, x->at, n);
		x->at += n;
		return false;
	}
	n = n > 5 ? 5 : n;
	buf_add(out, x->at, n - 3);
	x->at += n;
	return true;
}

/* Reads a string of several lines, after its three quotation marks. */
static int
read_lines(struct toml_text *x, char quote, struct buf *out)
{
	const unsigned began = x->line;
	size_t n = line_end(x->at);

	for (x->at += n, x->line += n > 0; *x->at != '\0';) {
		if (*x->at == quote) {
			if (ends_lines(x, quote, out))
				return 0;
		} else if (*x->at == '\\' && quote == '"') {
			x->at++;
			if (read_escape(x, true, out) == -1)
				return -1;
		} else if ((n = line_end(x->at)) == 0 && is_control((unsigned char)*x->at)) {
			return toml_refuse(x, "a control character in a string");
		} else {
			buf_add(out, x->at, n > 0 ? n : 1);
			x->at += n > 0 ? n : 1;
			x->line += n > 0;
		}
	}
	x->line = began;
	return toml_refuse(x, "a string that begins here has no end");
}

int
toml_read_string(struct toml_text *x, bool lines, struct buf *out)
{
	const char quote = *x->at++;

	buf_puts(out, "");
	if (*x->at == quote && x->at[1] == quote) {
		x->at += 2;
		return lines ? read_lines(x, quote, out) : toml_refuse(x, "a key may not have several lines");
	}
	while (*x->at != quote) {
		if (is_control((unsigned char)*x->at))
			return toml_refuse(x, "a control character in a string, or a string without an end");
		if (*x->at == '\\' && quote == '"') {
			x->at++;
			if (read_escape(x, false, out) == -1)
				return -1;
		} else {
			buf_add(out, x->at++, 1);
		}
	}
	x->at++;
	return 0;
}

/* The length of the digits at s, which may have an underscore between each two. */
static size_t
digits_at(const char *s, const char *set)
{
	size_t n = strspn(s, set);

	while (n > 0 && s[n] == '_' && strspn(s + n + 1, set) > 0)
		n += 1 + strspn(s + n + 1, set);
	return n;
}

/* The length of a number at s; 0: there is none. */
static size_t
number_at(const char *s)
{
	const char *const set = s[0] != '0' ? NULL : s[1] == 'x' ? DIGITS "abcdefABCDEF" : s[1] == 'o' ? "01234567" :
	    s[1] == 'b' ? "01" : NULL;
	size_t at = *s == '+' || *s == '-', n;

	if (set != NULL)
		return (n = digits_at(s + 2, set)) > 0 ? n + 2 : 0;
	if (text_starts(s + at, "inf") || text_starts(s + at, "nan"))
		return at + 3;
	if ((n = digits_at(s + at, DIGITS)) == 0 || (n > 1 && s[at] == '0'))
		return 0;
	at += n;
	if (s[at] == '.') {
		if ((n = digits_at(s + at + 1, DIGITS)) == 0)
			return 0;
		at += n + 1;
	}
	if (s[at] != 'e' && s[at] != 'E')
		return at;
	at += s[at + 1] == '+' || s[at + 1] == '-' ? 2 : 1;
	return (n = digits_at(s + at, DIGITS)) > 0 ? at + n : 0;
}

/* The length of the form, if the text has it: a 0 stands for a digit, all else for itself.  Otherwise 0. */
static size_t
form_at(const char *s, const char *form)
{
	size_t n;

	for (n = 0; form[n] != '\0'; n++)
		if (form[n] == '0' ? s[n] < '0' || s[n] > '9' : s[n] != form[n])
			return 0;
	return n;
}

/* The length of a time of day; 0: there is none. */
static size_t
time_at(const char *s)
{
	const size_t n = form_at(s, "00:00:00");

	return n > 0 && form_at(s + n, ".0") > 0 ? n + 1 + strspn(s + n + 1, DIGITS) : n;
}

/* The length of a day, a time, or both with or without the distance from UTC; 0: there is none. */
static size_t
date_at(const char *s)
{
	const size_t day = form_at(s, "0000-00-00");
	size_t n = 0;

	if (day == 0)
		return time_at(s);
	if (s[day] == 'T' || s[day] == 't' || s[day] == ' ')
		n = time_at(s + day + 1);
	if (n == 0)
		return day;
	n += day + 1;
	if (s[n] == 'Z' || s[n] == 'z')
		return n + 1;
	return n + form_at(s + n, s[n] == '+' ? "+00:00" : "-00:00");
}

int
toml_read_plain(struct toml_text *x)
{
	static const char word[] = DIGITS LETTERS "+-_.:";
	static const char malformed[] = "no number or date is written so (10, 0x1f, 1.5e3, 2006-01-02T15:04:05Z); "
	    "a string needs quotation marks";
	const size_t truth = text_starts(x->at, "true") ? 4 : text_starts(x->at, "false") ? 5 : 0, date = date_at(x->at);
	const size_t n = truth > 0 ? truth : date > 0 ? date : number_at(x->at);

	if (strspn(x->at, word) == 0)
		return toml_refuse(x, "there is no value");
	if (n == 0 || strspn(x->at + n, word) > 0)
		return toml_refuse(x, strspn(x->at, DIGITS "+-") > 0 ? malformed : "a string needs quotation marks");
	x->at += n;
	return 0;
}
