/* See lines.h. Trusts no byte: a file that somebody else wrote is refused, not guessed at. */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789ABCDEF"

static bool
needs_no_escape(unsigned char c)
{
	return c > ' ' && c <= '~' && c != '%';
}

/* Lines. */

static bool
next_is(const struct lines *s, const char *text)
{
	const size_t n = strlen(text);

	return !s->failed && (size_t)(s->end - s->at) >= n && memcmp(s->at, text, n) == 0;
}

static void
expect(struct lines *s, const char *text)
{
	if (next_is(s, text))
		s->at += strlen(text);
	else
		s->failed = true;
}

static void
end_line(struct lines *s)
{
	if (!s->begun)
		s->begun = true;
	else if (s->out != NULL)
		buf_puts(s->out, "\n");
	else
		expect(s, "\n");
}

void
lines_begin(struct lines *s, const char *name)
{
	end_line(s);
	if (s->out != NULL)
		buf_puts(s->out, name);
	else
		expect(s, name);
}

bool
lines_more(struct lines *s, const char *name, bool more)
{
	struct lines ahead = *s;

	if (s->out == NULL) {
		lines_begin(&ahead, name);
		more = next_is(&ahead, " ");
	}
	if (more)
		lines_begin(s, name);
	return more;
}

bool
lines_finish(struct lines *s)
{
	lines_begin(s, "end");
	end_line(s);
	if (s->out != NULL)
		return !s->out->failed && !s->failed;
	return !s->failed && s->at == s->end;
}

void
lines_starve(struct lines *s)
{
	s->failed = s->nomem = true;
}

/* Words. */

static void
write_word(struct lines *s, const char *word)
{
	const char *p, *from;
	char escaped[4] = "%";

	buf_puts(s->out, *word == '\0' ? " -" : strcmp(word, "-") == 0 ? " %2D" : " ");
	if (strcmp(word, "-") == 0)
		return;
	for (p = from = word; *p != '\0'; p++)
		if (!needs_no_escape((unsigned char)*p)) {
			escaped[1] = DIGITS[(unsigned char)*p >> 4];
			escaped[2] = DIGITS[(unsigned char)*p & 15];
			buf_add(s->out, from, (size_t)(p - from));
			buf_add(s->out, escaped, 3);
			from = p + 1;
		}
	buf_add(s->out, from, (size_t)(p - from));
}

/* Gets the next word, still escaped, and its length. NULL, with failure noted, if there is none. */
static const char *
spelt(struct lines *s, size_t *len)
{
	const char *word;

	expect(s, " ");
	for (word = s->at; !s->failed && s->at < s->end && *s->at > ' ' && *s->at <= '~'; s->at++)
		;
	*len = (size_t)(s->at - word);
	if (*len == 0)
		s->failed = true;
	return s->failed ? NULL : word;
}

/* Decodes an escaped byte that needed escaping; 0 if it is none. */
static unsigned char
escaped_byte(const char *p, size_t left, bool alone)
{
	const char *high = left >= 3 && p[1] != '\0' ? strchr(DIGITS, p[1]) : NULL;
	const char *low = high != NULL && p[2] != '\0' ? strchr(DIGITS, p[2]) : NULL;
	unsigned char c = (unsigned char)(low != NULL ? (high - DIGITS) << 4 | (low - DIGITS) : 0);

	return needs_no_escape(c) && !(alone && c == '-') ? 0 : c;
}

/* Decodes into out, of «room» bytes. False for a spelling that is never written, or if it does not fit. */
static bool
unspell(const char *word, size_t n, char *out, size_t room)
{
	size_t i, at = 0;

	if (n == 1 && *word == '-')
		n = 0;
	if (n < room && memchr(word, '%', n) == NULL) {
		memcpy(out, word, n);
		out[n] = '\0';
		return true;
	}
	for (i = 0; i < n && at < room; i++, at++) {
		out[at] = word[i];
		if (word[i] == '%') {
			if ((out[at] = (char)escaped_byte(word + i, n - i, n == 3)) == '\0')
				return false;
			i += 2;
		}
	}
	if (at == room)
		return false;
	out[at] = '\0';
	return true;
}

void
field_text(struct lines *s, char *p, size_t size)
{
	const char *word;
	size_t n;

	if (s->out != NULL) {
		write_word(s, p);
		return;
	}
	if ((word = spelt(s, &n)) == NULL || !unspell(word, n, p, size)) {
		*p = '\0';
		s->failed = true;
	}
}

void
field_copy(struct lines *s, char **p)
{
	const char *word;
	char *copy = NULL;
	size_t n;

	if (s->out != NULL) {
		write_word(s, *p);
		return;
	}
	*p = NULL;
	if ((word = spelt(s, &n)) == NULL)
		return;
	if ((copy = malloc(n + 1)) == NULL)
		lines_starve(s);
	else if (unspell(word, n, copy, n + 1))
		*p = copy;
	else {
		free(copy);
		s->failed = true;
	}
}

void
field_copy_or_none(struct lines *s, char **p)
{
	bool there = *p != NULL;

	field_bool(s, &there);
	if (there)
		field_copy(s, p);
}

void
field_copy_if_any(struct lines *s, char **p)
{
	char none[] = "", *there = *p != NULL ? *p : none;

	if (s->out != NULL) {
		write_word(s, there);
		return;
	}
	field_copy(s, p);
	if (*p != NULL && **p == '\0') {
		free(*p);
		*p = NULL;
	}
}

void
fields_list(struct lines *s, struct strlist *l)
{
	char *word;
	size_t i;

	if (s->out != NULL) {
		for (i = 0; i < l->n; i++)
			write_word(s, l->v[i]);
		return;
	}
	while (next_is(s, " ")) {
		field_copy(s, &word);
		if (word != NULL && !strlist_add(l, word, SIZE_MAX))
			lines_starve(s);
		free(word);
	}
}

/* Without printf(3), which was a tenth of the time for a thousand policies. */
static void
write_number(struct lines *s, uint64_t n)
{
	char digits[24], *p = digits + sizeof(digits);

	do
		*--p = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	*--p = ' ';
	buf_add(s->out, p, (size_t)(digits + sizeof(digits) - p));
}

void
field_u64(struct lines *s, uint64_t *n)
{
	char digits[24];

	if (s->out != NULL) {
		write_number(s, *n);
		return;
	}
	*n = 0;
	field_text(s, digits, sizeof(digits));
	if (!s->failed && !text_u64(digits, UINT64_MAX, n))
		s->failed = true;
}

static uint64_t
field_up_to(struct lines *s, uint64_t n, uint64_t max)
{
	field_u64(s, &n);
	if (n <= max)
		return n;
	s->failed = true;
	return 0;
}

void
field_u32(struct lines *s, uint32_t *n)
{
	*n = (uint32_t)field_up_to(s, *n, UINT32_MAX);
}

void
field_i64(struct lines *s, int64_t *n)
{
	*n = (int64_t)field_up_to(s, (uint64_t)*n, INT64_MAX);
}

unsigned
field_name(struct lines *s, const char *const *names, size_t n, unsigned index)
{
	char name[32] = "";
	unsigned i;

	if (s->out != NULL) {
		write_word(s, names[index]);
		return index;
	}
	field_text(s, name, sizeof(name));
	for (i = 0; i < n && !s->failed; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	s->failed = true;
	return 0;
}

unsigned
field_index(struct lines *s, unsigned index, unsigned n)
{
	return (unsigned)field_up_to(s, index, n - 1);
}

void
field_bool(struct lines *s, bool *b)
{
	static const char *const names[] = { "no", "yes" };

	*b = field_name(s, names, 2, *b) == 1;
}

bool
field_version(struct lines *s)
{
	char version[16] = GPUHELPER_VERSION;

	field_text(s, version, sizeof(version));
	if (s->failed || strcmp(version, GPUHELPER_VERSION) == 0)
		return true;
	s->failed = true;
	return false;
}

/*
 * The member at index «at» of an array of *n members of this size. Reading, adds a zeroed member when at is *n. NULL,
 * with failure noted, if memory is short.
 */
static void *
lines_member(struct lines *s, void **array, size_t *n, size_t at, size_t size)
{
	char *v;

	if (at < *n)
		return (char *)*array + at * size;
	if ((v = reallocarray(*array, *n + 1, size)) == NULL) {
		lines_starve(s);
		return NULL;
	}
	*array = v;
	memset(v + *n * size, 0, size);
	return v + (*n)++ * size;
}

void
lines_members(struct lines *s, const char *name, void **array, size_t *n, size_t max, size_t size,
    void (*each)(struct lines *s, void *member))
{
	void *member;
	size_t at;

	for (at = 0; !s->failed && lines_more(s, name, at < *n); at++)
		if (at == max && s->out == NULL)
			s->failed = true;
		else if ((member = lines_member(s, array, n, at, size)) != NULL)
			each(s, member);
}

void
lines_texts(struct lines *s, const char *name, struct strlist *l)
{
	char *text;
	size_t i;

	for (i = 0; lines_more(s, name, i < l->n); i++) {
		text = NULL;
		field_copy(s, i < l->n ? &l->v[i] : &text);
		if (text != NULL && !strlist_add(l, text, SIZE_MAX))
			lines_starve(s);
		free(text);
	}
}

void
lines_pairs(struct lines *s, const char *name, struct strlist *first, struct strlist *second)
{
	char *one, *other;
	size_t i;

	for (i = 0; !s->failed && lines_more(s, name, i < first->n); i++) {
		one = other = NULL;
		field_copy(s, i < first->n ? &first->v[i] : &one);
		field_copy(s, i < second->n ? &second->v[i] : &other);
		if (one != NULL && other != NULL && (!strlist_add(first, one, SIZE_MAX) || !strlist_add(second, other, SIZE_MAX)))
			lines_starve(s);
		free(one);
		free(other);
	}
}

void
why_fields(struct lines *t, struct why *why)
{
	static const enum why_code codes[] = { WHY_NONE, WHY_DATA, WHY_UNSIGNED, WHY_ABSENT, WHY_BUG, WHY_IO, WHY_AGAIN,
		WHY_DENIED, WHY_CONFIG };
	unsigned i, at = 0;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == why->code)
			at = i;
	why->code = codes[field_index(t, at, sizeof(codes) / sizeof(codes[0]))];
	field_text(t, why->text, sizeof(why->text));
}
