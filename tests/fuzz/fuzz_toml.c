/*
 * libFuzzer entry for helper/ctl/worker/toml.c and tomltext.c.  A text is read whole, or refused with a line within it;
 * what was read can be looked up by its names.
 */
#include <stdlib.h>
#include <string.h>

#include "../../helper/ctl/worker/toml.h"
#include "fuzz.h"

static void
look_up(const struct toml *t, unsigned depth)
{
	const struct toml *c;

	must(depth < 5000);
	for (c = t->child; c != NULL; c = c->next) {
		if (t->kind == TOML_TABLES)
			must(c->name == NULL);
		else
			must(c->name != NULL && toml_find(t, c->name) == c);
		must(c->kind != TOML_STRING || toml_strings(c)->n == 1);
		look_up(c, depth + 1);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1);
	struct toml *t;
	struct why why;
	size_t i, lines = 1;
	unsigned long line;

	must(text != NULL);
	memcpy(text, data, len);
	text[len] = '\0';
	t = toml_parse(text, len, "f", &why);
	if (t != NULL) {
		look_up(t, 0);
		toml_free(t);
	} else if (strncmp(why.text, "f: ", 3) != 0) {
		for (i = 0; i < len; i++)
			lines += text[i] == '\n';
		line = strtoul(why.text + 2, NULL, 10);
		must(line >= 1 && line <= lines);
	}
	free(text);
	return 0;
}
