/* See toml.h.  Does not read inline tables, multi-line strings, escapes, or dotted keys. */
#include "toml.h"

#include <stdlib.h>
#include <string.h>

#include "../pure/cleanup.h"

void
toml_begin(struct toml *t, const char *text)
{
	*t = (struct toml){ .text = strdup(text), .section = strdup("") };
	t->rest = t->text;
}

void
toml_end(struct toml *t)
{
	free(t->text);
	free(t->section);
	*t = (struct toml){ 0 };
}

/* The place in a line where its comment begins, or its end.  A # between quotes begins no comment. */
static size_t
comment_at(const char *line)
{
	char quote = '\0';
	size_t i;

	for (i = 0; line[i] != '\0' && line[i] != '\n'; i++)
		if (quote != '\0')
			quote = line[i] == quote ? '\0' : quote;
		else if (line[i] == '"' || line[i] == '\'')
			quote = line[i];
		else if (line[i] == '#')
			break;
	return i;
}

/* Takes the next line, without its comment and the spaces around.  NULL at the end. */
static char *
next_toml_line(struct toml *t)
{
	char *line = t->rest;
	size_t n, end;

	if (line == NULL || *line == '\0')
		return NULL;
	n = strcspn(line, "\n");
	end = comment_at(line);
	t->rest = line + n + (line[n] != '\0');
	while (end > 0 && strchr(" \t\r", line[end - 1]) != NULL)
		end--;
	line[end] = '\0';
	return line + strspn(line, " \t");
}

static void
take_section(struct toml *t, const char *line)
{
	char *to = t->section;
	size_t n = strlen(line);
	char *grown = realloc(t->section, n + 1);

	if (grown == NULL)
		return;
	t->section = to = grown;
	for (; *line != '\0'; line++)
		if (strchr("[]\"' \t", *line) == NULL)
			*to++ = *line;
	*to = '\0';
}

/* Joins the lines of a list, up to its closing bracket. */
static void
take_list(struct toml *t)
{
	char *end = t->value + strlen(t->value), *line;
	size_t n;

	while ((end == t->value || end[-1] != ']') && (line = next_toml_line(t)) != NULL) {
		n = strlen(line);
		*end++ = ' ';
		memmove(end, line, n + 1);
		end += n;
	}
}

bool
toml_next(struct toml *t)
{
	char *line, *equals, *end;

	while (t->section != NULL && (line = next_toml_line(t)) != NULL) {
		if (*line == '[') {
			take_section(t, line);
			continue;
		}
		if ((equals = strchr(line, '=')) == NULL)
			continue;
		t->value = equals + 1 + strspn(equals + 1, " \t");
		for (end = equals; end > line && strchr(" \t\"'", end[-1]) != NULL; end--)
			;
		*end = '\0';
		t->key = line + strspn(line, "\"'");
		if (*t->value == '[')
			take_list(t);
		return true;
	}
	return false;
}

bool
toml_is(const struct toml *t, const char *section, const char *key)
{
	return strcmp(t->section, section) == 0 && strcmp(t->key, key) == 0;
}

bool
toml_strings(const struct toml *t, struct strlist *out)
{
	const char *from = t->value, *end;

	for (; (from = strpbrk(from, "\"'")) != NULL; from = end + 1) {
		if ((end = strchr(from + 1, *from)) == NULL)
			return true;
		if (!strlist_add(out, from + 1, (size_t)(end - from - 1)))
			return false;
	}
	return true;
}

char *
toml_string(const struct toml *t)
{
	autostrlist struct strlist l = { 0 };

	return toml_strings(t, &l) && l.n > 0 ? strdup(l.v[0]) : NULL;
}
