/*
 * See doc.h. The text's author may be hostile: bounds recursion, does no more than n log n work, and must
 * never read past the end.
 */
#include "doc.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"

struct scan {
	struct doc *d;
	size_t at;
	struct why *why;
};

static int
bad(struct scan *s, const char *what)
{
	size_t i, line = 1, col = 1;

	for (i = 0; i < s->at && i < s->d->len; i++) {
		col++;
		if (s->d->text[i] == '\n') {
			line++;
			col = 1;
		}
	}
	s->d->refused_at = s->at;
	return refuse(s->why, WHY_DATA, "line %zu column %zu: %s", line, col, what);
}

static void
space(struct scan *s)
{
	const char *t = s->d->text;

	while (s->at < s->d->len && (t[s->at] == ' ' || t[s->at] == '\t' || t[s->at] == '\n' || t[s->at] == '\r'))
		s->at++;
}

/* The byte at the cursor; -1 at the end. */
static int
peek(const struct scan *s)
{
	return s->at < s->d->len ? (unsigned char)s->d->text[s->at] : -1;
}

static uint32_t
new_node(struct scan *s, enum doc_kind kind)
{
	struct doc *d = s->d;
	struct doc_node *v;
	uint32_t cap;

	if (d->nodes >= DOC_NODES)
		return DOC_NONE;
	if (d->nodes == d->cap) {
		cap = d->cap ? d->cap * 2 : 512;
		if ((v = reallocarray(d->node, cap, sizeof(*v))) == NULL)
			return DOC_NONE;
		d->node = v;
		d->cap = cap;
	}
	d->node[d->nodes] = (struct doc_node){
		.start = (uint32_t)s->at, .child = DOC_NONE, .next = DOC_NONE, .kind = kind };
	return d->nodes++;
}

/* Refuses with the reason for which new_node() failed. */
static int
no_node(struct scan *s)
{
	return s->d->nodes >= DOC_NODES ? bad(s, "too many values") : refuse_nomem(s->why);
}

static int
hex4(const char *p, uint32_t *v)
{
	int i;

	*v = 0;
	for (i = 0; i < 4; i++) {
		char c = p[i];

		if (c >= '0' && c <= '9')
			*v = *v << 4 | (uint32_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			*v = *v << 4 | (uint32_t)((c | 32) - 'a' + 10);
		else
			return -1;
	}
	return 0;
}

/*
 * Parses one \uXXXX, or two that form a surrogate pair, from the 'u'. Returns the bytes after that 'u' (4 or
 * 10); 0 if malformed.
 */
static size_t
unicode_escape(const char *p, size_t left, uint32_t *cp)
{
	uint32_t low;

	if (left < 5 || hex4(p + 1, cp) == -1 || (*cp >= 0xdc00 && *cp <= 0xdfff))
		return 0;
	if (*cp < 0xd800 || *cp > 0xdbff)
		return 5;
	if (left < 11 || p[5] != '\\' || p[6] != 'u' || hex4(p + 7, &low) == -1 || low < 0xdc00 || low > 0xdfff)
		return 0;
	*cp = 0x10000 + ((*cp - 0xd800) << 10) + (low - 0xdc00);
	return 11;
}

/* Skips bytes of a string that stand for themselves. */
static void
skip_plain(struct scan *s)
{
	const char *p = s->d->text + s->at, *const end = s->d->text + s->d->len;

	while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
		p++;
	s->at = (size_t)(p - s->d->text);
}

/* Scans a string from its opening quote. The whole document is known to be UTF-8. */
static int
scan_string(struct scan *s, uint32_t n)
{
	const char *t = s->d->text;
	uint32_t cp;
	size_t used;
	int c;

	for (s->at++; skip_plain(s), (c = peek(s)) != '"'; s->at++) {
		if (c == -1)
			return bad(s, "a string that does not end");
		if (c < 0x20)
			return bad(s, "a control byte in a string");
		s->at++;
		c = peek(s);
		if (c == 'u') {
			if ((used = unicode_escape(t + s->at, s->d->len - s->at, &cp)) == 0)
				return bad(s, "a malformed \\u escape");
			s->at += used - 1;
		} else if (c <= 0 || strchr("\"\\/bfnrt", c) == NULL)
			return bad(s, "an unknown escape");
	}
	s->at++;
	s->d->node[n].end = (uint32_t)s->at;
	return 0;
}

static bool
digits(struct scan *s)
{
	size_t from = s->at;

	while (peek(s) >= '0' && peek(s) <= '9')
		s->at++;
	return s->at > from;
}

static int
scan_number(struct scan *s, uint32_t n)
{
	if (peek(s) == '-')
		s->at++;
	if (peek(s) == '0')
		s->at++;
	else if (!digits(s))
		return bad(s, "not a JSON value");
	if (peek(s) == '.') {
		s->at++;
		if (!digits(s))
			return bad(s, "a malformed number");
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		if (!digits(s))
			return bad(s, "a malformed number");
	}
	s->d->node[n].end = (uint32_t)s->at;
	return 0;
}

static int
scan_word(struct scan *s, uint32_t n, const char *word)
{
	size_t len = strlen(word);

	if (s->d->len - s->at < len || memcmp(s->d->text + s->at, word, len) != 0)
		return bad(s, "not a JSON value");
	s->at += len;
	s->d->node[n].end = (uint32_t)s->at;
	return 0;
}

struct key {
	const char *name;
	char *copy;		/* the name, to be freed, if it had to be unescaped; else NULL */
	size_t len;
	uint32_t start;
};

static char *unescape(const struct doc *d, uint32_t n, size_t *len);

/* The bytes of a string between its quotes. NULL if some of them are escaped. */
static const char *
plain_bytes(const struct doc *d, uint32_t n, size_t *len)
{
	const char *p = d->text + d->node[n].start + 1;

	*len = d->node[n].end - d->node[n].start - 2;
	return memchr(p, '\\', *len) == NULL ? p : NULL;
}

static int
key_order(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	size_t min = x->len < y->len ? x->len : y->len;
	int c = memcmp(x->name, y->name, min);

	return c != 0 ? c : (x->len > y->len) - (x->len < y->len);
}

/* Refuses duplicate keys in an object, because the next reader of the file may use the other one. */
static int
no_duplicates(struct scan *s, uint32_t obj)
{
	struct doc *d = s->d;
	size_t n = d->node[obj].count, i = 0;
	autofree struct key *keys = NULL;
	uint32_t k;
	int ret = 0;

	if (n < 2)
		return 0;
	if ((keys = calloc(n, sizeof(*keys))) == NULL)
		return refuse_nomem(s->why);
	for (k = d->node[obj].child; k != DOC_NONE; k = d->node[k].next, i++) {
		keys[i].start = d->node[k].start;
		if ((keys[i].name = plain_bytes(d, k, &keys[i].len)) == NULL &&
		    (keys[i].name = keys[i].copy = unescape(d, k, &keys[i].len)) == NULL)
			ret = refuse_nomem(s->why);
	}
	if (ret == 0) {
		qsort(keys, n, sizeof(*keys), key_order);
		for (i = 1; i < n && ret == 0; i++)
			if (key_order(&keys[i - 1], &keys[i]) == 0) {
				d->refused_at = keys[i].start > keys[i - 1].start ? keys[i].start : keys[i - 1].start;
				ret = refuse(s->why, WHY_DATA, "the key \"%.*s\" appears twice in one object",
				    (int)(keys[i].len < 60 ? keys[i].len : 60), keys[i].name);
			}
	}
	for (i = 0; i < n; i++)
		free(keys[i].copy);
	return ret;
}

static int scan_value(struct scan *s, unsigned depth, uint32_t *out);

/* Scans the members of an object or the elements of an array, from the byte after the opening bracket. */
static int
scan_items(struct scan *s, uint32_t n, unsigned depth)
{
	bool object = s->d->node[n].kind == DOC_OBJECT;
	int close = object ? '}' : ']';
	uint32_t last = DOC_NONE, item, value;

	for (space(s); peek(s) != close; space(s)) {
		if (last != DOC_NONE) {
			if (peek(s) != ',')
				return bad(s, "expected ',' or the end of the list");
			s->at++;
			space(s);
		}
		if (object) {
			if (peek(s) != '"')
				return bad(s, "expected a key");
			if ((item = new_node(s, DOC_STRING)) == DOC_NONE)
				return no_node(s);
			if (scan_string(s, item) == -1)
				return -1;
			space(s);
			if (peek(s) != ':')
				return bad(s, "expected ':'");
			s->at++;
			space(s);
			if (scan_value(s, depth, &value) == -1)
				return -1;
			s->d->node[item].child = value;
		} else if (scan_value(s, depth, &item) == -1)
			return -1;
		if (last == DOC_NONE)
			s->d->node[n].child = item;
		else
			s->d->node[last].next = item;
		last = item;
		s->d->node[n].count++;
	}
	s->at++;
	s->d->node[n].end = (uint32_t)s->at;
	return object ? no_duplicates(s, n) : 0;
}

static int
scan_value(struct scan *s, unsigned depth, uint32_t *out)
{
	enum doc_kind kind;
	int c = peek(s);

	switch (c) {
	case '{': kind = DOC_OBJECT; break;
	case '[': kind = DOC_ARRAY; break;
	case '"': kind = DOC_STRING; break;
	case 't': kind = DOC_TRUE; break;
	case 'f': kind = DOC_FALSE; break;
	case 'n': kind = DOC_NULL; break;
	default: kind = DOC_NUMBER; break;
	}
	if ((*out = new_node(s, kind)) == DOC_NONE)
		return no_node(s);
	switch (kind) {
	case DOC_OBJECT:
	case DOC_ARRAY:
		if (depth >= DOC_DEPTH)
			return bad(s, "nested too deep");
		s->at++;
		return scan_items(s, *out, depth + 1);
	case DOC_STRING:
		return scan_string(s, *out);
	case DOC_TRUE:
		return scan_word(s, *out, "true");
	case DOC_FALSE:
		return scan_word(s, *out, "false");
	case DOC_NULL:
		return scan_word(s, *out, "null");
	case DOC_NUMBER:
		break;
	}
	return scan_number(s, *out);
}

int
doc_parse(struct doc *d, const char *text, size_t len, struct why *why)
{
	struct scan s = { .d = d, .why = why };
	uint32_t root;

	*d = (struct doc){ .text = text, .len = len };
	if (len >= INT_MAX)
		return refuse(why, WHY_DATA, "larger than 2 GiB");
	if (!text_is_utf8(text, len))
		return refuse(why, WHY_DATA, "not UTF-8");
	space(&s);
	if (scan_value(&s, 0, &root) == -1)
		return -1;
	space(&s);
	if (s.at != len)
		return bad(&s, "more after the end of the document");
	return 0;
}

void
doc_free(struct doc *d)
{
	free(d->node);
	*d = (struct doc){ 0 };
}

bool
doc_is(const struct doc *d, uint32_t n, enum doc_kind kind)
{
	return n != DOC_NONE && d->node[n].kind == kind;
}

uint32_t
doc_first(const struct doc *d, uint32_t n)
{
	return doc_is(d, n, DOC_OBJECT) || doc_is(d, n, DOC_ARRAY) ? d->node[n].child : DOC_NONE;
}

uint32_t
doc_next(const struct doc *d, uint32_t n)
{
	return d->node[n].next;
}

uint32_t
doc_value(const struct doc *d, uint32_t key)
{
	return d->node[key].child;
}

uint32_t
doc_get(const struct doc *d, uint32_t obj, const char *key)
{
	uint32_t k;

	if (!doc_is(d, obj, DOC_OBJECT))
		return DOC_NONE;
	for (k = d->node[obj].child; k != DOC_NONE; k = d->node[k].next)
		if (doc_equals(d, k, key))
			return d->node[k].child;
	return DOC_NONE;
}

static size_t
utf8_put(char *out, uint32_t cp)
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	out[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

/* Decodes the next byte or escape of a scanned string into at most 4 bytes, never more than it read. */
static size_t
next_bytes(const char **p, const char *end, char out[4])
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	uint32_t cp;

	if (**p == '\\' && (*p)[1] == 'u') {
		(*p)++;
		*p += unicode_escape(*p, (size_t)(end - *p), &cp);
		return utf8_put(out, cp);
	}
	if (**p == '\\') {
		out[0] = to[strchr(from, (*p)[1]) - from];
		*p += 2;
	} else
		out[0] = *(*p)++;
	return 1;
}

/* Decodes a scanned string, which may contain a NUL. */
static char *
unescape(const struct doc *d, uint32_t n, size_t *len)
{
	const char *p = d->text + d->node[n].start + 1, *end = d->text + d->node[n].end - 1, *escape;
	char *out = malloc((size_t)(end - p) + 1), bytes[4];
	size_t o = 0, k;

	if (out == NULL)
		return NULL;
	while (p < end) {
		k = (size_t)(((escape = memchr(p, '\\', (size_t)(end - p))) != NULL ? escape : end) - p);
		memcpy(out + o, p, k);
		o += k;
		if ((p += k) == end)
			break;
		k = next_bytes(&p, end, bytes);
		memcpy(out + o, bytes, k);
		o += k;
	}
	out[o] = '\0';
	*len = o;
	return out;
}

char *
doc_string(const struct doc *d, uint32_t n)
{
	size_t len;
	char *s;

	if (!doc_is(d, n, DOC_STRING) || (s = unescape(d, n, &len)) == NULL)
		return NULL;
	if (strlen(s) != len) {
		free(s);
		return NULL;
	}
	return s;
}

/* Compares without allocating: if memory were short, a key would seem to be absent. */
static bool
begins(const char *p, const char *end, const char *s, bool whole)
{
	char bytes[4];
	size_t k;

	for (; p < end && *s != '\0'; s += k) {
		k = next_bytes(&p, end, bytes);
		if (strncmp(s, bytes, k) != 0)
			return false;
	}
	return *s == '\0' && (!whole || p == end);
}

bool
doc_equals(const struct doc *d, uint32_t n, const char *s)
{
	const char *p;
	size_t len;

	if (!doc_is(d, n, DOC_STRING))
		return false;
	if ((p = plain_bytes(d, n, &len)) != NULL)
		return strlen(s) == len && memcmp(p, s, len) == 0;
	return begins(d->text + d->node[n].start + 1, d->text + d->node[n].end - 1, s, true);
}

bool
doc_contains(const struct doc *d, uint32_t n, const char *part)
{
	const char *p, *end;
	char bytes[4];

	if (!doc_is(d, n, DOC_STRING))
		return false;
	p = d->text + d->node[n].start + 1;
	end = d->text + d->node[n].end - 1;
	while (!begins(p, end, part, false)) {
		if (p == end)
			return false;
		(void)next_bytes(&p, end, bytes);
	}
	return true;
}

bool
doc_i64(const struct doc *d, uint32_t n, int64_t *out)
{
	const char *p, *end;
	int64_t v = 0;
	bool minus;

	if (!doc_is(d, n, DOC_NUMBER))
		return false;
	p = d->text + d->node[n].start;
	end = d->text + d->node[n].end;
	minus = *p == '-';
	for (p += minus; p < end; p++)
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    (minus ? __builtin_sub_overflow(v, *p - '0', &v) : __builtin_add_overflow(v, *p - '0', &v)))
			return false;
	*out = v;
	return true;
}
