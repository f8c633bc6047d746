/* See secontext.h. */
#include "secontext.h"

#include <stdio.h>
#include <string.h>

#include "../base/text.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/*
 * Copies the text up to the next colon or the end. NULL if it is empty, does not fit, or has a character of
 * no identifier.
 */
static const char *
take_identifier(const char *s, const char *end, char *out, size_t size)
{
	size_t n = end != NULL ? (size_t)(end - s) : strlen(s);

	if (n == 0 || n >= size || strspn(s, LETTERS DIGITS "_.-") < n)
		return NULL;
	memcpy(out, s, n);
	out[n] = '\0';
	return end != NULL ? end + 1 : s + n;
}

bool
secontext_parse(const char *text, struct secontext *out)
{
	const char *p = text, *user, *role, *type;

	*out = (struct secontext){ 0 };
	if (strlen(text) >= SECONTEXT_MAX || (user = strchr(p, ':')) == NULL || (role = strchr(user + 1, ':')) == NULL)
		return false;
	type = strchr(role + 1, ':');
	if ((p = take_identifier(p, user, out->user, sizeof(out->user))) == NULL ||
	    (p = take_identifier(p, role, out->role, sizeof(out->role))) == NULL ||
	    (p = take_identifier(p, type, out->type, sizeof(out->type))) == NULL)
		return false;
	if (type == NULL)
		return true;
	if (strlen(p) >= sizeof(out->level) || level_kind(p) == LEVEL_WRONG)
		return false;
	memcpy(out->level, p, strlen(p) + 1);
	return true;
}

bool
secontext_format(const struct secontext *c, char out[SECONTEXT_MAX])
{
	return (size_t)snprintf(out, SECONTEXT_MAX, "%s:%s:%s%s%s", c->user, c->role, c->type, c->level[0] ? ":" : "",
	    c->level) < SECONTEXT_MAX;
}

bool
secontext_is_type(const char *s)
{
	return *s != '\0' && strlen(s) < sizeof(((struct secontext *)0)->type) && strchr(LETTERS, *s) != NULL &&
	    s[strspn(s, LETTERS DIGITS "_")] == '\0';
}

/* Skips «s0» or «s15». Returns what follows; NULL if there is none. */
static const char *
skip_letter_number(const char *s, char letter)
{
	size_t n;

	if (*s != letter)
		return NULL;
	n = strspn(s + 1, DIGITS);
	return n == 0 || n > 4 ? NULL : s + 1 + n;
}

/* Skips the categories of one level, «c1,c4.c7». Returns what follows; NULL if they are malformed. */
static const char *
skip_categories(const char *s, bool *range)
{
	for (;; s++) {
		if ((s = skip_letter_number(s, 'c')) == NULL)
			return NULL;
		if (*s == '.') {
			*range = true;
			if ((s = skip_letter_number(s + 1, 'c')) == NULL)
				return NULL;
		}
		if (*s != ',')
			return s;
	}
}

enum level_kind
level_kind(const char *level)
{
	bool range = false, categories = false;
	const char *p = level;

	for (;; p++) {
		if ((p = skip_letter_number(p, 's')) == NULL)
			return LEVEL_WRONG;
		if (*p == ':') {
			categories = true;
			if ((p = skip_categories(p + 1, &range)) == NULL)
				return LEVEL_WRONG;
		}
		if (*p != '-' || range)
			break;
		range = true;
	}
	if (*p != '\0')
		return LEVEL_WRONG;
	return range ? LEVEL_RANGE : categories ? LEVEL_CATEGORIES : LEVEL_PLAIN;
}

static const char *const relabel_names[] = { "no", "shared", "private" };

const char *
relabel_name(enum relabel r)
{
	return relabel_names[r];
}

/* Category numbers have at most four digits. */
#define NAMED 10000
#define WORDS ((NAMED + 63) / 64)
struct categories {
	uint64_t set[WORDS];
};

/* Reads «c12» in a valid level. Returns what follows. */
static const char *
read_category(const char *s, unsigned *out)
{
	for (*out = 0, s++; *s >= '0' && *s <= '9'; s++)
		*out = *out * 10 + (unsigned)(*s - '0');
	return s;
}

static struct categories
categories_of(const char *level)
{
	struct categories out = { 0 };
	const char *p = level;
	unsigned i, last;

	if (level_kind(level) == LEVEL_WRONG)
		return out;
	while ((p = strchr(p, 'c')) != NULL) {
		p = read_category(p, &i);
		last = i;
		if (*p == '.')
			p = read_category(p + 1, &last);
		for (; i <= last; i++)
			out.set[i / 64] |= UINT64_C(1) << i % 64;
	}
	return out;
}

unsigned
level_categories(const char *level)
{
	const struct categories c = categories_of(level);
	unsigned n = 0;
	size_t i;

	for (i = 0; i < NAMED; i++)
		n += (c.set[i / 64] >> i % 64 & 1) != 0;
	return n;
}

bool
level_overlaps(const char *a, const char *b)
{
	const struct categories in_a = categories_of(a), in_b = categories_of(b);
	uint64_t only_a = 0, only_b = 0, both = 0;
	size_t i;

	for (i = 0; i < WORDS; i++) {
		only_a |= in_a.set[i] & ~in_b.set[i];
		only_b |= in_b.set[i] & ~in_a.set[i];
		both |= in_a.set[i] & in_b.set[i];
	}
	return both != 0 && (only_a == 0 || only_b == 0);
}

void
level_pair(uint32_t random, char out[32])
{
	uint32_t a = random % SECONTEXT_CATEGORIES;
	uint32_t b = (a + 1 + random / SECONTEXT_CATEGORIES % (SECONTEXT_CATEGORIES - 1)) % SECONTEXT_CATEGORIES;

	/* the kernel writes the lower one first */
	snprintf(out, 32, "s0:c%u,c%u", a < b ? a : b, a < b ? b : a);
}
