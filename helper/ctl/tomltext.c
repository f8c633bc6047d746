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

/* True if the n letters at s are a value. */
static bool
is_value(const char *s, size_t n)
{
	static const char *const values[] = { "true", "false", "inf", "nan" };
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strlen(values[i]) == n && strncmp(s, values[i], n) == 0)
			return true;
	return false;
}

int
toml_read_plain(struct toml_text *x)
{
	static const char word[] = DIGITS LETTERS "+-_.:", day[] = "YYYY-MM-DD";
	size_t n = strspn(x->at, word);

	if (n == 0)
		return toml_refuse(x, "there is no value");
	if (strspn(x->at, LETTERS) == n && !is_value(x->at, n))
		return toml_refuse(x, "a string needs quotation marks");
	x->at += n;
	/* a space may stand between day and time */
	if (n == strlen(day) && x->at[-3] == '-' && *x->at == ' ')
		x->at += (n = strspn(x->at + 1, DIGITS ":.+-Zz")) > 0 ? n + 1 : 0;
	return 0;
}
