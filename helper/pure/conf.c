/*
 * See conf.h.  The text is root's own, but a slip in it must not open what it
 * was written to close: anything doubtful is a fault with its line.
 */
#include "conf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 8		/* of brackets */
#define SETTINGS_MAX 2048	/* libconfig 1.5 takes time quadratic in these */

void
fault_add(struct faults *f, unsigned line, bool warning, const char *fmt, ...)
{
	struct fault *v;
	char text[sizeof(v->text)];
	va_list ap;

	f->errors += !warning;
	if (f->n >= 1000 || (v = reallocarray(f->v, f->n + 1, sizeof(*v))) == NULL)
		return;
	f->v = v;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	f->v[f->n] = (struct fault){ .line = line, .warning = warning };
	text_printable(f->v[f->n].text, sizeof(f->v[f->n].text), text);
	f->n++;
}

void
faults_free(struct faults *f)
{
	free(f->v);
	*f = (struct faults){ 0 };
}

int
faults_refuse(const struct faults *f, const char *file, struct why *why)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (f->v[i].warning)
			continue;
		if (f->v[i].line == 0)
			return refuse(why, WHY_CONFIG, "%s: %s", file, f->v[i].text);
		return refuse(why, WHY_CONFIG, "%s:%u: %s", file, f->v[i].line, f->v[i].text);
	}
	return refuse_nomem(why);
}

/* The text before libconfig sees it. */
struct look {
	const char *p, *end;
	unsigned line, depth, settings;
	struct faults *f;
};

static bool
is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	    c == '*';
}

static void
look_comment(struct look *l)
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

static void
look_string(struct look *l)
{
	for (l->p++; l->p < l->end && *l->p != '"'; l->p++) {
		if ((unsigned char)*l->p < 0x20) {
			fault_add(l->f, l->line, false, "a string must end on its line and hold no control byte");
			l->line += *l->p == '\n';
		}
		if (*l->p != '\\')
			continue;
		l->p++;
		if (l->p >= l->end)
			break;
		if (*l->p != '\\' && *l->p != '"')
			fault_add(l->f, l->line, false, "in a string, a backslash may only stand before \\ or \"");
	}
	if (l->p >= l->end)
		fault_add(l->f, l->line, false, "this string has no end");
	else
		l->p++;
}

static void
look_number(struct look *l)
{
	const char *from = l->p;
	bool plain = true;

	while (l->p < l->end && (is_name(*l->p) || *l->p == '.' || *l->p == '+'))
		l->p++;
	for (const char *p = from; p < l->p; p++)
		plain = plain && *p >= '0' && *p <= '9';
	if (!plain || l->p - from > 9)
		fault_add(l->f, l->line, false, "\"%.*s\" is not a plain number of at most nine digits",
		    (int)(l->p - from > 40 ? 40 : l->p - from), from);
}

static void
look_mark(struct look *l)
{
	switch (*l->p) {
	case '\n':
		l->line++;
		break;
	case '{': case '[': case '(':
		if (++l->depth == DEPTH_MAX + 1)
			fault_add(l->f, l->line, false, "nested deeper than %d brackets", DEPTH_MAX);
		break;
	case '}': case ']': case ')':
		l->depth -= l->depth > 0;
		break;
	case '=': case ':':
		if (++l->settings == SETTINGS_MAX + 1)
			fault_add(l->f, l->line, false, "more than %d settings in one file", SETTINGS_MAX);
		break;
	case '@':
		fault_add(l->f, l->line, false, "@include is not allowed: every file stands for itself");
		break;
	case ' ': case '\t': case '\r': case ';': case ',':
		break;
	default:
		fault_add(l->f, l->line, false, "unexpected character \"%.1s\"", (unsigned char)*l->p < 0x80 ? l->p : "?");
	}
	l->p++;
}

static void
look_over(const char *text, size_t len, struct faults *f)
{
	struct look l = { .p = text, .end = text + len, .line = 1, .f = f };

	if (len > CONF_MAX) {
		fault_add(f, 0, false, "larger than %d bytes", CONF_MAX);
		return;
	}
	if (memchr(text, '\0', len) != NULL || !text_is_utf8(text, len)) {
		fault_add(f, 0, false, "not UTF-8 text");
		return;
	}
	while (l.p < l.end && f->errors < 20) {
		if (*l.p == '#' || (*l.p == '/' && l.end - l.p > 1 && (l.p[1] == '/' || l.p[1] == '*')))
			look_comment(&l);
		else if (*l.p == '"')
			look_string(&l);
		else if ((*l.p >= '0' && *l.p <= '9') || *l.p == '-' || *l.p == '+' || *l.p == '.')
			look_number(&l);
		else if (is_name(*l.p))
			while (l.p < l.end && is_name(*l.p))
				l.p++;
		else
			look_mark(&l);
	}
}

bool
conf_parse(config_t *cfg, const char *text, size_t len, struct faults *f)
{
	autobuf struct buf whole = { 0 };

	config_init(cfg);
	look_over(text, len, f);
	if (f->errors > 0)
		return false;
	/* libconfig 1.5 takes a comment for one only if its line ends */
	buf_add(&whole, text, len);
	if (len > 0 && text[len - 1] != '\n')
		buf_puts(&whole, "\n");
	if (whole.failed) {
		fault_add(f, 0, false, "out of memory");
		return false;
	}
	if (config_read_string(cfg, whole.p) != CONFIG_TRUE) {
		fault_add(f, (unsigned)config_error_line(cfg), false, "%s", config_error_text(cfg));
		return false;
	}
	return true;
}

unsigned
conf_line(const config_setting_t *s)
{
	return (unsigned)config_setting_source_line(s);
}

static const struct conf_key *
find_key(const struct conf_key *keys, const char *name)
{
	for (; keys->name != NULL; keys++)
		if (strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

static void
unknown_key(const config_setting_t *s, const struct conf_key *keys, struct faults *f)
{
	const char *names[33], *near;
	size_t n;

	for (n = 0; n < 32 && keys[n].name != NULL; n++)
		names[n] = keys[n].name;
	names[n] = NULL;
	near = text_nearest(config_setting_name(s), names);
	if (near != NULL)
		fault_add(f, conf_line(s), false, "unknown key \"%s\"; did you mean \"%s\"?", config_setting_name(s), near);
	else
		fault_add(f, conf_line(s), false, "unknown key \"%s\"", config_setting_name(s));
}

void
conf_group(config_setting_t *group, const struct conf_key *keys, void *out, struct faults *f)
{
	const struct conf_key *key;
	config_setting_t *s;
	int i;

	if (config_setting_type(group) != CONFIG_TYPE_GROUP) {
		fault_add(f, conf_line(group), false, "expected a group: { key = value; ... }");
		return;
	}
	for (i = 0; i < config_setting_length(group); i++) {
		s = config_setting_get_elem(group, (unsigned)i);
		if ((key = find_key(keys, config_setting_name(s))) == NULL)
			unknown_key(s, keys, f);
		else
			key->read(s, out, f);
	}
}

/* The name that a fault speaks of: an element of a list has none, its list has. */
static const char *
name_of(const config_setting_t *s)
{
	const char *name = config_setting_name(s);

	while (name == NULL && (s = config_setting_parent(s)) != NULL)
		name = config_setting_name(s);
	return name != NULL ? name : "this";
}

void
conf_string(config_setting_t *s, char **out, struct faults *f)
{
	const char *text = config_setting_get_string(s);
	char *copy;

	if (config_setting_type(s) != CONFIG_TYPE_STRING || text == NULL) {
		fault_add(f, conf_line(s), false, "%s must be a string in double quotes", name_of(s));
		return;
	}
	if (*text == '\0') {
		fault_add(f, conf_line(s), false, "%s is empty", name_of(s));
		return;
	}
	if ((copy = strdup(text)) == NULL) {
		fault_add(f, conf_line(s), false, "out of memory");
		return;
	}
	free(*out);
	*out = copy;
}

void
conf_bool(config_setting_t *s, bool *out, struct faults *f)
{
	if (config_setting_type(s) != CONFIG_TYPE_BOOL)
		fault_add(f, conf_line(s), false, "%s must be true or false", name_of(s));
	else
		*out = config_setting_get_bool(s) != 0;
}

void
conf_number(config_setting_t *s, unsigned min, unsigned max, unsigned *out, struct faults *f)
{
	int v = config_setting_get_int(s);

	if (config_setting_type(s) != CONFIG_TYPE_INT || v < 0 || (unsigned)v < min || (unsigned)v > max)
		fault_add(f, conf_line(s), false, "%s must be a number from %u to %u", name_of(s), min, max);
	else
		*out = (unsigned)v;
}

void
conf_strings(config_setting_t *s, struct strlist *out, struct faults *f)
{
	int i, type = config_setting_type(s);

	if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) {
		fault_add(f, conf_line(s), false, "%s must be a list of strings: [ \"...\" ]", name_of(s));
		return;
	}
	for (i = 0; i < config_setting_length(s); i++) {
		char *text = NULL;

		conf_string(config_setting_get_elem(s, (unsigned)i), &text, f);
		if (text != NULL && !strlist_add(out, text, SIZE_MAX))
			fault_add(f, conf_line(s), false, "out of memory");
		free(text);
	}
}

void
conf_word(config_setting_t *s, const char *const *words, unsigned *out, struct faults *f)
{
	const char *text = config_setting_type(s) == CONFIG_TYPE_STRING ? config_setting_get_string(s) : NULL;
	autobuf struct buf all = { 0 };
	const char *near;
	unsigned i;

	for (i = 0; words[i] != NULL; i++) {
		if (text != NULL && strcmp(words[i], text) == 0) {
			*out = i;
			return;
		}
		buf_printf(&all, "%s\"%s\"", i ? ", " : "", words[i]);
	}
	near = text != NULL ? text_nearest(text, words) : NULL;
	if (near != NULL)
		fault_add(f, conf_line(s), false, "%s = \"%s\" is unknown; did you mean \"%s\"?", name_of(s), text, near);
	else
		fault_add(f, conf_line(s), false, "%s must be one of %s", name_of(s), all.failed ? "the known words" : all.p);
}
