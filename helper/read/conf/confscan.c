/*
 * See confscan.h. Only root can have written the text, but it may hold anything. Must never read past its
 * end, and must take linear time except for the names in one group.
 */
#include "confscan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"

#define FAULTS_MAX 20		/* a longer list would help nobody */

/* Characters that word processors and web pages put in place of ASCII. */
enum suspect { SUSPECT_QUOTE, SUSPECT_SPACE, SUSPECT_INVISIBLE, SUSPECT_KINDS, SUSPECT_NONE = SUSPECT_KINDS };

/* The name of a setting; the names of one group form a list. */
struct key {
	const char *name;
	size_t len;
	unsigned line;
	size_t before;		/* index + 1 of the one before it in its group, or 0 */
};

struct conf_scanner {
	const char *p, *end;
	unsigned line, depth;
	struct faults *f;
	unsigned faulty;	/* the last line that got a fault, or 0 */
	bool comma;		/* the last token was a comma */
	bool over;		/* the rest of the text can't be checked */
	struct key *key, name;	/* all settings; the name that was read last */
	size_t keys;
	size_t last[CONF_DEPTH_MAX + 2], many[CONF_DEPTH_MAX + 2];	/* of each open bracket: last key, number of keys */
	size_t suspect[SUSPECT_KINDS];	/* index + 1 of this kind's fault */
	unsigned suspect_line[SUSPECT_KINDS], suspect_lines[SUSPECT_KINDS];
};

/* Adds only the first fault of a line. */
#define SCAN_FAULT(l, ...) \
	do { \
		if ((l)->faulty != (l)->line) \
			fault_add((l)->f, (l)->line, false, __VA_ARGS__); \
		(l)->faulty = (l)->line; \
	} while (0)

bool
conf_is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	    c == '*';
}

bool
conf_is_word_char(char c)
{
	return conf_is_name_char(c) || c == '.' || c == '+';
}

static void
scan_comment(struct conf_scanner *l)
{
	unsigned from = l->line;

	if (l->p[0] == '#' || l->p[1] == '/') {
		while (l->p < l->end && *l->p != '\n')
			l->p++;
		return;
	}
	for (l->p += 2; l->end - l->p >= 2; l->p++) {
		if (l->p[0] == '*' && l->p[1] == '/') {
			l->p += 2;
			return;
		}
		l->line += *l->p == '\n';
	}
	l->p = l->end;
	fault_add(l->f, from, false, "this comment has no end");
}

/*
 * After a missing quote, strings begin where others end. So this is the last fault of the file, and faults
 * that the line already has may come from it. If the line has a curly quote, that one is the cause and has a
 * fault already.
 */
static void
quote_missing(struct conf_scanner *l)
{
	struct faults *f = l->f;

	if (l->suspect_line[SUSPECT_QUOTE] == l->line) {
		while (l->p < l->end && *l->p != '\n')
			l->p++;
		return;
	}
	for (; f->n > 0 && f->errors > 0 && f->v[f->n - 1].line == l->line; f->n--)
		f->errors -= !f->v[f->n - 1].warning;
	fault_add(f, l->line, false, "a double quote (\") is missing on this line: a string begins and ends on one line");
	l->over = true;
}

static void
scan_string(struct conf_scanner *l)
{
	for (l->p++; l->p < l->end && *l->p != '"' && *l->p != '\n'; l->p++) {
		if ((unsigned char)*l->p < 0x20 && !(*l->p == '\r' && l->end - l->p > 1 && l->p[1] == '\n'))
			SCAN_FAULT(l, "a string may hold no control byte%s", *l->p == '\t' ? " (there is a tab in this one)" : "");
		if (*l->p != '\\')
			continue;
		if (l->end - l->p < 2 || l->p[1] == '\n')
			continue;
		if (*++l->p != '\\' && *l->p != '"')
			SCAN_FAULT(l, "in a string, a backslash may only stand before \\ or \"");
	}
	if (l->p >= l->end || *l->p == '\n')
		quote_missing(l);
	else
		l->p++;
}

/* Checks for decimal digits, with or without a minus. The setting's reader checks the range. */
static void
scan_number(struct conf_scanner *l)
{
	const char *from = l->p, *digits = from + (*from == '-');
	const int shown = 40;
	bool plain = true;

	while (l->p < l->end && conf_is_word_char(*l->p))
		l->p++;
	for (const char *p = digits; p < l->p; p++)
		plain = plain && *p >= '0' && *p <= '9';
	if (!plain || l->p == digits || l->p - digits > 9)
		SCAN_FAULT(l, "\"%.*s\" is not a plain number of at most nine digits",
		    (int)(l->p - from > shown ? shown : l->p - from), from);
	else if (*digits == '0' && l->p - digits > 1)
		/* libconfig 1.6 to 1.8 read it as octal, other versions as decimal */
		SCAN_FAULT(l, "\"%.*s\" begins with a 0: some take it for an octal number", (int)(l->p - from), from);
}

static void
scan_name(struct conf_scanner *l)
{
	l->name = (struct key){ .name = l->p, .line = l->line };
	while (l->p < l->end && conf_is_name_char(*l->p))
		l->p++;
	l->name.len = (size_t)(l->p - l->name.name);
}

/* Called at the = or : after a name. */
static void
scan_setting(struct conf_scanner *l)
{
	const unsigned at = l->depth <= CONF_DEPTH_MAX ? l->depth : CONF_DEPTH_MAX + 1;
	struct key *v;
	size_t i;

	if (l->name.name == NULL || l->faulty == l->line)
		return;
	for (i = l->last[at]; i != 0; i = l->key[i - 1].before)
		if (l->key[i - 1].len == l->name.len && memcmp(l->key[i - 1].name, l->name.name, l->name.len) == 0) {
			SCAN_FAULT(l, "\"%.*s\" is set twice: line %u has it, too", (int)(l->name.len > 64 ? 64 : l->name.len),
			    l->name.name, l->key[i - 1].line);
			return;
		}
	if (l->keys == CONF_SETTINGS_MAX || l->many[at]++ == CONF_GROUP_MAX) {
		SCAN_FAULT(l, "more than %d settings in one %s", l->keys == CONF_SETTINGS_MAX ? CONF_SETTINGS_MAX : CONF_GROUP_MAX,
		    l->keys == CONF_SETTINGS_MAX ? "file" : "group");
		l->over = true;
		return;
	}
	if (l->keys % 256 == 0) {
		if ((v = reallocarray(l->key, l->keys + 256, sizeof(*v))) == NULL) {
			fault_add(l->f, 0, false, "out of memory");
			l->over = true;
			return;
		}
		l->key = v;
	}
	l->name.before = l->last[at];
	l->key[l->keys++] = l->name;
	l->last[at] = l->keys;
}

static void
open_bracket(struct conf_scanner *l)
{
	if (++l->depth == CONF_DEPTH_MAX + 1)
		SCAN_FAULT(l, "nested deeper than %d brackets", CONF_DEPTH_MAX);
	if (l->depth <= CONF_DEPTH_MAX)
		l->last[l->depth] = l->many[l->depth] = 0;
}

static void
close_bracket(struct conf_scanner *l)
{
	l->depth -= l->depth > 0;
	/* libconfig 1.7 and later allow it, earlier versions do not */
	if (l->comma && *l->p != '}')
		SCAN_FAULT(l, "a list ends without a comma: take the one before \"%c\" out", *l->p);
}

static void
scan_punctuation(struct conf_scanner *l)
{
	const char c = *l->p;

	switch (c) {
	case '{': case '[': case '(':
		open_bracket(l);
		break;
	case '}': case ']': case ')':
		close_bracket(l);
		break;
	case '=': case ':':
		scan_setting(l);
		break;
	case '@':
		SCAN_FAULT(l, "@include is not allowed: each file must be complete");
		break;
	case ';': case ',':
		break;
	case '\'':
		SCAN_FAULT(l, "unexpected character \"'\": a string stands in double quotes");
		break;
	default:
		SCAN_FAULT(l, "unexpected character \"%c\"%s", c > 0x20 && c < 0x7f ? c : '?',
		    c == '/' ? ": a string stands in double quotes" : "");
	}
	l->comma = c == ',';
	l->name.name = NULL;
	l->p++;
}

static enum suspect
suspect_kind(uint32_t c)
{
	if ((c >= 0x2018 && c <= 0x201f) || c == 0xab || c == 0xbb || c == 0x2032 || c == 0x2033 || c == 0xff02)
		return SUSPECT_QUOTE;
	if (c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000)
		return SUSPECT_SPACE;
	if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x2069) || c == 0xfeff)
		return SUSPECT_INVISIBLE;
	return SUSPECT_NONE;
}

/* Decodes one character of well-formed UTF-8. Returns its number of bytes. */
static unsigned
decode(const char *p, uint32_t *c)
{
	const unsigned char *b = (const unsigned char *)p;
	const unsigned n = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
	unsigned i;

	*c = b[0] & (0xffU >> (n + 1));
	for (i = 1; i < n; i++)
		*c = *c << 6 | (b[i] & 0x3fU);
	return n;
}

static void
first_suspect(struct conf_scanner *l, enum suspect kind, uint32_t c, unsigned n)
{
	if (kind == SUSPECT_QUOTE)
		SCAN_FAULT(l, "\"%.*s\" (U+%04X) is no double quote: write \"", (int)n, l->p, c);
	else if (kind == SUSPECT_INVISIBLE)
		SCAN_FAULT(l, "a character that can't be seen (U+%04X): take it out", c);
	else if (c == 0xa0 || c == 0x202f)
		SCAN_FAULT(l, "a no-break space (U+%04X): write a plain space", c);
	else
		SCAN_FAULT(l, "a space that is no plain one (U+%04X): write a plain space", c);
}

/*
 * A character that is not ASCII, outside of strings and comments. Reports the first of each kind, and counts
 * the further lines that have one.
 */
static void
scan_suspect(struct conf_scanner *l)
{
	const bool clean = l->faulty != l->line;
	uint32_t c;
	const unsigned n = decode(l->p, &c);
	const enum suspect kind = suspect_kind(c);

	l->comma = l->comma && kind != SUSPECT_QUOTE && kind != SUSPECT_NONE;
	if (kind == SUSPECT_NONE)
		SCAN_FAULT(l, "unexpected character \"%.*s\" (U+%04X)", (int)n, l->p, c);
	else if (l->suspect_line[kind] != l->line) {
		l->suspect_line[kind] = l->line;
		if (l->suspect[kind] != 0) {
			l->suspect_lines[kind]++;
			l->faulty = l->line;
		} else if (clean) {
			first_suspect(l, kind, c, n);
			l->suspect[kind] = l->f->n;
		}
	}
	l->p += n;
}

/* Appends the number of further lines to the first fault of each kind. */
static void
count_suspect(struct conf_scanner *l)
{
	struct fault *f;
	size_t i, len;

	for (i = 0; i < SUSPECT_KINDS; i++) {
		if (l->suspect_lines[i] == 0 || l->suspect[i] == 0 || l->suspect[i] > l->f->n)
			continue;
		f = &l->f->v[l->suspect[i] - 1];
		len = strlen(f->text);
		snprintf(f->text + len, sizeof(f->text) - len, "; %u more line%s such", l->suspect_lines[i],
		    l->suspect_lines[i] == 1 ? " has" : "s have");
	}
}

static void
scan_token(struct conf_scanner *l)
{
	const char c = *l->p;
	const bool number = (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';

	if (c == '\n' || c == ' ' || c == '\t' || c == '\r') {
		l->line += c == '\n';
		l->p++;
	} else if (c == '#' || (c == '/' && l->end - l->p > 1 && (l->p[1] == '/' || l->p[1] == '*'))) {
		scan_comment(l);
	} else if ((unsigned char)c >= 0x80) {
		scan_suspect(l);
	} else if (c == '"' || number || conf_is_name_char(c)) {
		l->comma = false;
		l->name.name = NULL;
		if (c == '"')
			scan_string(l);
		else if (number)
			scan_number(l);
		else
			scan_name(l);
	} else
		scan_punctuation(l);
}

/* The first line that is not UTF-8 text or has a NUL, or 0. */
static unsigned
line_of_garbage(const char *text, size_t len, bool *nul)
{
	const char *p = text, *end = text + len, *eol;
	unsigned line;

	for (line = 1; p < end; line++, p = eol + 1) {
		if ((eol = memchr(p, '\n', (size_t)(end - p))) == NULL)
			eol = end;
		*nul = memchr(p, '\0', (size_t)(eol - p)) != NULL;
		if (*nul || !text_is_utf8(p, (size_t)(eol - p)))
			return line;
	}
	return 0;
}

void
conf_scan(const char *text, size_t len, struct faults *f)
{
	struct conf_scanner l = { .p = text, .end = text + len, .line = 1, .f = f };
	unsigned garbage;
	bool nul;

	if (len > CONF_MAX) {
		fault_add(f, 0, false, "has %zu bytes: at most %d are read", len, CONF_MAX);
		return;
	}
	if ((garbage = line_of_garbage(text, len, &nul)) != 0) {
		fault_add(f, garbage, false, "%s", nul ? "not text: this line has a NUL byte" :
		    "not UTF-8 text: save the file as UTF-8");
		return;
	}
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		SCAN_FAULT(&l, "the file begins with a byte order mark (U+FEFF): save it as UTF-8 without one");
		l.faulty = 0;
		l.p += 3;
	}
	while (l.p < l.end && !l.over && f->errors < FAULTS_MAX)
		scan_token(&l);
	count_suspect(&l);
	free(l.key);
}
