/* gpuhelperctl help and version: prints the table of commands.c, as text or as JSON for programs. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "../base/text.h"

#define COLUMNS 79

/* Output that is wrapped between words. */
struct lines {
	size_t at, indent;	/* columns */
};

static void
put_word(struct lines *l, const char *word)
{
	const size_t n = strlen(word);

	if (l->at + 1 + n > COLUMNS && l->at > l->indent) {
		printf("\n%*s", (int)l->indent, "");
		l->at = l->indent;
	}
	printf(" %s", word);
	l->at += 1 + n;
}

static void
put_usage(const char *before, const struct command *c)
{
	struct lines l = { .indent = strlen(before) + 6 };
	const struct option_kind *k;
	const struct takes *t;
	char word[80];

	l.at = (size_t)printf("%s%s", before, c->name);
	for (t = c->takes; t->help != NULL; t++) {
		k = &option_kinds[t->option];
		if (k->letter != 0)
			snprintf(word, sizeof(word), "%s-%c|--%s%s%s%s", t->must ? "" : "[", k->letter, k->name, k->value != NULL ?
			    " " : "", k->value != NULL ? k->value : "", t->must ? "" : "]");
		else
			snprintf(word, sizeof(word), "%s--%s%s%s%s", t->must ? "" : "[", k->name, k->value != NULL ? " " : "",
			    k->value != NULL ? k->value : "", t->must ? "" : "]");
		put_word(&l, word);
	}
	if (c->words[0] != '\0')
		put_word(&l, c->words);
	putchar('\n');
}

static void
put_all(void)
{
	size_t i;

	puts("usage: gpuhelperctl COMMAND [OPTION ...] [...]\n");
	for (i = 0; i < commands_n; i++) {
		put_usage("  ", &commands[i]);
		printf("      %s\n", commands[i].summary);
	}
	puts("\n  -h, --help         print this help, or with a command its options\n"
	    "  -V, --version      print the version\n\n"
	    "See gpuhelperctl(8).");
}

static void
put_command(const struct command *c)
{
	const struct option_kind *k;
	const struct takes *t;
	char left[64];

	put_usage("usage: gpuhelperctl ", c);
	printf("\n%s\n\n", c->summary);
	for (t = c->takes; t->help != NULL; t++) {
		k = &option_kinds[t->option];
		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", k->letter != 0 ? '-' : ' ', k->letter != 0 ? k->letter : ' ',
		    k->letter != 0 ? ',' : ' ', k->name, k->value != NULL ? " " : "", k->value != NULL ? k->value : "");
		if (strlen(left) > 26)
			printf("  %s\n  %26s  %s\n", left, "", t->help);
		else
			printf("  %-26s  %s\n", left, t->help);
	}
}

static json_t *
options_json(const struct command *c)
{
	json_t *list = json_array(), *j;
	const struct option_kind *k;
	const struct takes *t;

	for (t = c->takes; t->help != NULL; t++) {
		k = &option_kinds[t->option];
		j = json_pack("{s:s, s:b, s:s}", "name", k->name, "must", t->must, "help", t->help);
		if (k->letter != 0)
			json_object_set_new(j, "letter", json_stringn(&k->letter, 1));
		if (k->value != NULL)
			json_object_set_new(j, "value", json_string(k->value));
		json_array_append_new(list, j);
	}
	return list;
}

/* Prints all commands, or those of the name or group «only». */
static void
print_help_json(const char *only)
{
	json_t *list = json_array();
	const struct command *c;

	for (c = commands; c < commands + commands_n; c++)
		if (only == NULL || command_is_of(c, only))
			json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "name", c->name, "words", c->words, "summary",
			    c->summary, "options", options_json(c)));
	put_out(json_pack("{s:o}", "commands", list));
}

static void
put_group(const char *group)
{
	size_t i, n = 0;

	for (i = 0; i < commands_n; i++)
		if (command_is_of(&commands[i], group)) {
			if (n++ > 0)
				putchar('\n');
			put_command(&commands[i]);
		}
}

int
help_print(const struct options *o)
{
	const char *name = NULL;
	const struct command *c;
	struct why why;
	size_t used;

	if (o->args == 1 && command_is_group(o->arg[0]))
		name = o->arg[0];
	else if (o->args > 0) {
		if ((c = command_find(o->arg, o->args, &used, &why)) == NULL)
			return give_up(o, &why);
		name = c->name;
	}
	if (o->json)
		print_help_json(name);
	else if (name != NULL)
		put_group(name);
	else
		put_all();
	return 0;
}

int
ctl_version(const struct options *o)
{
	if (o->json)
		put_out(json_pack("{s:s}", "version", GPUHELPER_VERSION));
	else
		puts("gpuhelperctl " GPUHELPER_VERSION);
	return 0;
}
