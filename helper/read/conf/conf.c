/*
 * See conf.h. Only root can have written the text. But a mistake in it must not open what it was written to
 * close, so anything doubtful is a fault with its line.
 */
#include "conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/textnear.h"
#include "confhint.h"
#include "confscan.h"

bool
conf_parse(config_t *cfg, const char *text, size_t len, struct faults *f)
{
	autobuf struct buf whole = { 0 };

	config_init(cfg);
	conf_scan(text, len, f);
	if (f->errors > 0)
		return false;
	/* libconfig 1.5 recognizes a comment only if its line ends */
	buf_add(&whole, text, len);
	if (len > 0 && text[len - 1] != '\n')
		buf_puts(&whole, "\n");
	if (whole.failed) {
		fault_add(f, 0, false, "out of memory");
		return false;
	}
	if (config_read_string(cfg, whole.p) != CONFIG_TRUE) {
		if (!conf_hint(text, len, f))
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
find_conf_key(const struct conf_key *keys, const char *name)
{
	for (; keys->name != NULL; keys++)
		if (strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

/* Returns the key that was probably meant, or NULL. */
static const struct conf_key *
refuse_unknown_key(const config_setting_t *s, const struct conf_key *keys, struct faults *f)
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
	return near != NULL ? find_conf_key(keys, near) : NULL;
}

uint32_t
conf_group(config_setting_t *group, const struct conf_key *keys, void *out, struct faults *f)
{
	const struct conf_key *key;
	uint32_t there = 0;
	config_setting_t *s;
	int i;

	if (config_setting_type(group) != CONFIG_TYPE_GROUP) {
		fault_add(f, conf_line(group), false, "expected a group: { key = value; ... }");
		return UINT32_MAX;
	}
	for (i = 0; i < config_setting_length(group); i++) {
		s = config_setting_get_elem(group, (unsigned)i);
		if ((key = find_conf_key(keys, config_setting_name(s))) == NULL)
			key = refuse_unknown_key(s, keys, f);
		else
			key->read(s, out, f);
		if (key != NULL)
			there |= 1U << (key - keys);
	}
	return there;
}

bool
conf_there(const struct conf_key *keys, uint32_t there, const char *name)
{
	const struct conf_key *key = find_conf_key(keys, name);

	return key != NULL && (there & 1U << (key - keys)) != 0;
}

/* The name for a fault. An element of a list has none, so its list's name is used. */
static const char *
setting_name(const config_setting_t *s)
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
		fault_add(f, conf_line(s), false, "%s must be a string in double quotes", setting_name(s));
		return;
	}
	if (*text == '\0') {
		fault_add(f, conf_line(s), false, "%s is empty", setting_name(s));
		return;
	}
	if ((copy = strdup(text)) == NULL) {
		fault_add(f, conf_line(s), false, "out of memory");
		return;
	}
	free(*out);
	*out = copy;
}

bool
conf_groups(config_setting_t *s, int max, struct faults *f)
{
	if (config_setting_type(s) != CONFIG_TYPE_LIST)
		fault_add(f, conf_line(s), false, "%s must be a list of groups: ( { ... }, { ... } )", setting_name(s));
	else if (config_setting_length(s) > max)
		fault_add(f, conf_line(s), false, "%s has %d entries: at most %d are read", setting_name(s),
		    config_setting_length(s), max);
	else
		return true;
	return false;
}

void
conf_bool(config_setting_t *s, bool *out, struct faults *f)
{
	if (config_setting_type(s) != CONFIG_TYPE_BOOL)
		fault_add(f, conf_line(s), false, "%s must be true or false", setting_name(s));
	else
		*out = config_setting_get_bool(s) != 0;
}

void
conf_number(config_setting_t *s, unsigned min, unsigned max, unsigned *out, struct faults *f)
{
	int v = config_setting_get_int(s);

	if (config_setting_type(s) != CONFIG_TYPE_INT || v < 0 || (unsigned)v < min || (unsigned)v > max)
		fault_add(f, conf_line(s), false, "%s must be a number from %u to %u", setting_name(s), min, max);
	else
		*out = (unsigned)v;
}

/* Reports only the first wrong entry: the others are usually wrong for the same reason. */
bool
conf_strings(config_setting_t *s, struct strlist *out, struct faults *f)
{
	int i, type = config_setting_type(s);
	const size_t errors = f->errors;

	if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) {
		fault_add(f, conf_line(s), false, "%s must be a list of strings: [ \"%.60s\" ]", setting_name(s),
		    type == CONFIG_TYPE_STRING ? config_setting_get_string(s) : "...");
		return false;
	}
	for (i = 0; i < config_setting_length(s) && f->errors == errors; i++) {
		char *text = NULL;

		conf_string(config_setting_get_elem(s, (unsigned)i), &text, f);
		if (text != NULL && !strlist_add(out, text, SIZE_MAX))
			fault_add(f, conf_line(s), false, "out of memory");
		free(text);
	}
	return f->errors == errors;
}

/* The word that was probably meant, or NULL. */
static const char *
meant(const char *text, const char *const *words, const struct conf_alias *aliases)
{
	for (; aliases != NULL && aliases->text != NULL; aliases++)
		if (strcasecmp(aliases->text, text) == 0)
			return aliases->word;
	return text_nearest(text, words);
}

void
conf_word_or(config_setting_t *s, const char *const *words, const struct conf_alias *aliases, unsigned *out,
    struct faults *f)
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
	near = text != NULL ? meant(text, words, aliases) : NULL;
	if (near != NULL)
		fault_add(f, conf_line(s), false, "%s = \"%s\" is unknown; did you mean \"%s\"?", setting_name(s), text, near);
	else
		fault_add(f, conf_line(s), false, "%s must be one of %s", setting_name(s), all.failed ? "the known words" : all.p);
}

void
conf_word(config_setting_t *s, const char *const *words, unsigned *out, struct faults *f)
{
	conf_word_or(s, words, NULL, out, f);
}
