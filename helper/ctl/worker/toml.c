/* See toml.h.  The rules of which table may be named again are those of TOML 1.0. */
#include "toml.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "tomltext.h"

#define KEYS_MAX 10000
#define DEPTH_MAX 64
#define NAMES_MAX 64
#define BARE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* Frees what the node owns, and not the node. */
static void
empty(struct toml *t)
{
	struct toml *c, *next;

	for (c = t->child; c != NULL; c = next) {
		next = c->next;
		toml_free(c);
	}
	strlist_free(&t->strings);
	free(t->name);
}

void
toml_free(struct toml *t)
{
	if (t != NULL)
		empty(t);
	free(t);
}

/* Adds a child.  NULL with *why: memory is short, or there are too many. */
static struct toml *
add_child(struct toml_text *x, struct toml *t, const char *name, enum toml_kind kind)
{
	struct toml *c;

	if (++x->keys > KEYS_MAX) {
		(void)toml_refuse(x, "too many keys");
		return NULL;
	}
	if ((c = calloc(1, sizeof(*c))) == NULL || (name != NULL && (c->name = strdup(name)) == NULL)) {
		free(c);
		(void)refuse_nomem(x->why);
		return NULL;
	}
	c->kind = kind;
	if (t->last != NULL)
		t->last->next = c;
	else
		t->child = c;
	return t->last = c;
}

static struct toml *
child_of(const struct toml *t, const char *name)
{
	struct toml *c;

	for (c = t->child; c != NULL; c = c->next)
		if (c->name != NULL && strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static int
read_name(struct toml_text *x, struct strlist *names)
{
	autobuf struct buf name = { 0 };
	const size_t n = strspn(x->at, BARE);

	if (*x->at == '"' || *x->at == '\'') {
		if (toml_read_string(x, false, &name) == -1)
			return -1;
	} else if (n == 0) {
		return toml_refuse(x, "there is no key");
	} else {
		buf_add(&name, x->at, n);
		x->at += n;
	}
	if (names->n == NAMES_MAX)
		return toml_refuse(x, "a key with too many dots");
	return !name.failed && strlist_add(names, name.p, name.len) ? 0 : refuse_nomem(x->why);
}

/* Reads a key: names with dots between them, and spaces around these. */
static int
read_key(struct toml_text *x, struct strlist *names)
{
	for (;;) {
		toml_skip_spaces(x);
		if (read_name(x, names) == -1)
			return -1;
		toml_skip_spaces(x);
		if (*x->at != '.')
			return 0;
		x->at++;
	}
}

/* The table that [name.…] goes on from here.  NULL with *why. */
static struct toml *
go_by_header(struct toml_text *x, struct toml *t, const char *name)
{
	struct toml *c = child_of(t, name);

	if (c == NULL)
		return add_child(x, t, name, TOML_IMPLIED);
	if (c->kind == TOML_TABLES)
		return c->last;
	if (c->kind <= TOML_DOTTED)
		return c;
	(void)toml_refuse(x, "the name leads through a value");
	return NULL;
}

/* The table of [names].  A table may be named once, and a dotted key's table never. */
static struct toml *
open_table(struct toml_text *x, struct toml *t, const char *name)
{
	struct toml *c = child_of(t, name);

	if (c == NULL)
		return add_child(x, t, name, TOML_TABLE);
	if (c->kind != TOML_IMPLIED) {
		(void)toml_refuse(x, "the table is there already");
		return NULL;
	}
	c->kind = TOML_TABLE;
	return c;
}

/* A new element of [[names]]. */
static struct toml *
open_element(struct toml_text *x, struct toml *t, const char *name)
{
	struct toml *c = child_of(t, name);

	if (c == NULL && (c = add_child(x, t, name, TOML_TABLES)) == NULL)
		return NULL;
	if (c->kind != TOML_TABLES) {
		(void)toml_refuse(x, "the name is another value's");
		return NULL;
	}
	return add_child(x, c, NULL, TOML_TABLE);
}

/* Reads [names] or [[names]].  The table, or NULL with *why. */
static struct toml *
read_header(struct toml_text *x, struct toml *top)
{
	autostrlist struct strlist names = { 0 };
	const size_t brackets = x->at[1] == '[' ? 2 : 1;
	struct toml *t = top;
	size_t i;

	x->at += brackets;
	if (read_key(x, &names) == -1)
		return NULL;
	if (strncmp(x->at, "]]", brackets) != 0) {
		(void)toml_refuse(x, "a table's name has no closing bracket");
		return NULL;
	}
	x->at += brackets;
	for (i = 0; t != NULL && i + 1 < names.n; i++)
		t = go_by_header(x, t, names.v[i]);
	if (t != NULL)
		t = brackets == 2 ? open_element(x, t, names.v[i]) : open_table(x, t, names.v[i]);
	return t != NULL && toml_end_line(x) == 0 ? t : NULL;
}

static int read_pair(struct toml_text *x, struct toml *t, unsigned depth);

static int
read_inline(struct toml_text *x, struct toml *t, unsigned depth)
{
	x->at++;
	toml_skip_spaces(x);
	if (*x->at == '}') {
		x->at++;
		return 0;
	}
	for (;;) {
		if (read_pair(x, t, depth) == -1)
			return -1;
		toml_skip_spaces(x);
		if (*x->at == '}') {
			x->at++;
			return 0;
		}
		if (*x->at++ != ',')
			return toml_refuse(x, "an inline table needs a comma or } here, on the same line");
	}
}

static int read_value(struct toml_text *x, struct toml *t, unsigned depth);

/* Keeps the elements that are strings.  Lists and tables within are read, and not kept. */
static int
read_list(struct toml_text *x, struct toml *t, unsigned depth)
{
	int ret;

	for (x->at++;;) {
		struct toml element = { .kind = TOML_OTHER };

		if (toml_skip_lines(x) == -1)
			return -1;
		if (*x->at == ']') {
			x->at++;
			return 0;
		}
		ret = read_value(x, &element, depth);
		if (ret == 0 && element.kind == TOML_STRING && !strlist_add(&t->strings, element.strings.v[0], SIZE_MAX))
			ret = refuse_nomem(x->why);
		empty(&element);
		if (ret == -1 || toml_skip_lines(x) == -1)
			return -1;
		if (*x->at != ',' && *x->at != ']')
			return toml_refuse(x, "a list needs a comma or ] here");
		x->at += *x->at == ',';
	}
}

static int
read_value(struct toml_text *x, struct toml *t, unsigned depth)
{
	autobuf struct buf text = { 0 };

	if (depth > DEPTH_MAX)
		return toml_refuse(x, "too many levels");
	if (*x->at == '{') {
		t->kind = TOML_INLINE;
		return read_inline(x, t, depth + 1);
	}
	if (*x->at == '[') {
		t->kind = TOML_LIST;
		return read_list(x, t, depth + 1);
	}
	if (*x->at != '"' && *x->at != '\'') {
		t->kind = TOML_OTHER;
		return toml_read_plain(x);
	}
	t->kind = TOML_STRING;
	if (toml_read_string(x, true, &text) == -1)
		return -1;
	return !text.failed && strlist_add(&t->strings, text.p, text.len) ? 0 : refuse_nomem(x->why);
}

/* Reads KEY = VALUE into the table. */
static int
read_pair(struct toml_text *x, struct toml *t, unsigned depth)
{
	autostrlist struct strlist names = { 0 };
	struct toml *c;
	size_t i;

	if (read_key(x, &names) == -1)
		return -1;
	if (*x->at++ != '=')
		return toml_refuse(x, "a key needs = and a value");
	toml_skip_spaces(x);
	for (i = 0; i + 1 < names.n; i++, t = c) {
		if ((c = child_of(t, names.v[i])) == NULL && (c = add_child(x, t, names.v[i], TOML_DOTTED)) == NULL)
			return -1;
		if (c->kind != TOML_DOTTED)
			return toml_refuse(x, "the key leads through a value or another table");
	}
	if (child_of(t, names.v[i]) != NULL)
		return toml_refuse(x, "the key is there already");
	c = add_child(x, t, names.v[i], TOML_OTHER);
	return c != NULL ? read_value(x, c, depth) : -1;
}

static int
read_text(struct toml_text *x, struct toml *top)
{
	struct toml *table = top;

	for (;;) {
		if (toml_skip_lines(x) == -1)
			return -1;
		if (*x->at == '\0')
			return 0;
		if (*x->at == '[') {
			if ((table = read_header(x, top)) == NULL)
				return -1;
		} else if (read_pair(x, table, 0) == -1 || toml_end_line(x) == -1) {
			return -1;
		}
	}
}

struct toml *
toml_parse(const char *text, size_t len, const char *file, struct why *why)
{
	static const char mark[] = "\xef\xbb\xbf";	/* some editors begin UTF-8 with it */
	struct toml_text x = { .at = text + (text_starts(text, mark) ? strlen(mark) : 0),
		.file = file, .line = 1, .why = why };
	struct toml *top = calloc(1, sizeof(*top));

	if (top == NULL) {
		(void)refuse_nomem(why);
		return NULL;
	}
	top->kind = TOML_TABLE;
	if (strlen(text) != len || !text_is_utf8(text, len))
		(void)refuse(why, WHY_CONFIG, "%s: is not UTF-8, or has a NUL byte", file);
	else if (read_text(&x, top) == 0)
		return top;
	toml_free(top);
	return NULL;
}

const struct toml *
toml_at(const struct toml *t, const char *const *names)
{
	for (; t != NULL && *names != NULL; names++)
		t = child_of(t, *names);
	return t;
}

char *
toml_copy(const struct toml *t)
{
	return t != NULL && t->kind == TOML_STRING ? strdup(t->strings.v[0]) : NULL;
}

const struct strlist *
toml_strings(const struct toml *t)
{
	return t != NULL && (t->kind == TOML_STRING || t->kind == TOML_LIST) ? &t->strings : NULL;
}
