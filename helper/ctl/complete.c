/*
 * gpuhelperctl complete: what could stand where the cursor is, for shells (helper/completion).  By the table of
 * commands.c, so that completion knows what help knows.  Says nothing where only the shell can know: a file, a text.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../pure/text.h"
#include "commands.h"

/* The words before the one at the cursor, read as far as they are known. */
struct before {
	char *word[2];			/* those that may name a subcommand */
	size_t words;
	const struct option_kind *open;	/* an option whose value comes next; NULL: none */
};

static const struct option_kind *
option_of(const char *word)
{
	size_t i;

	for (i = 0; i < OPTS; i++)
		if ((text_starts(word, "--") && strcmp(word + 2, option_kinds[i].name) == 0) ||
		    (word[0] == '-' && option_kinds[i].letter != 0 && word[1] == option_kinds[i].letter && word[2] == '\0'))
			return &option_kinds[i];
	return NULL;
}

static void
read_before(char *const *word, size_t n, struct before *b)
{
	const struct option_kind *k;
	size_t i;

	for (i = 0; i < n; i++) {
		k = b->open == NULL ? option_of(word[i]) : NULL;
		if (b->open == NULL && word[i][0] != '-' && b->words < 2)
			b->word[b->words++] = word[i];
		b->open = k != NULL && k->value != NULL ? k : NULL;
	}
}

static const struct command *
command_of(const struct before *b)
{
	struct why ignored;
	size_t used;

	return b->words > 0 ? command_find(b->word, b->words, &used, &ignored) : NULL;
}

static void
offer(const char *candidate, size_t len, const char *begun)
{
	if (strncmp(candidate, begun, strlen(begun)) == 0 && strlen(begun) <= len)
		printf("%.*s\n", (int)len, candidate);
}

/* "token|claim|caller": one of these; "FILE" is the shell's to know. */
static void
offer_values(const char *value, const char *begun)
{
	size_t n;

	if (islower((unsigned char)*value))
		for (; *value != '\0'; value += n + (value[n] == '|')) {
			n = strcspn(value, "|");
			offer(value, n, begun);
		}
}

static void
offer_options(const struct command *c, const char *begun)
{
	const struct takes *t;
	char word[40];

	for (t = c != NULL ? c->takes : NULL; t != NULL && t->help != NULL; t++) {
		snprintf(word, sizeof(word), "--%s", option_kinds[t->option].name);
		offer(word, strlen(word), begun);
	}
	offer("--help", 6, begun);
	if (c == NULL)
		offer("--version", 9, begun);
}

/* First words, each once, for those of a group stand together; or the second ones of a group. */
static void
offer_commands(const char *group, const char *begun)
{
	const char *name;
	size_t i, n;
	bool known;

	for (i = 0; i < commands_n; i++) {
		name = commands[i].name;
		n = strcspn(name, " ");
		known = i > 0 && name[n] == ' ' && strncmp(commands[i - 1].name, name, n + 1) == 0;
		if (group == NULL && !known)
			offer(name, n, begun);
		else if (group != NULL && name[n] == ' ' && command_is_of(&commands[i], group))
			offer(name + n + 1, strlen(name + n + 1), begun);
	}
}

int
ctl_complete(const struct options *o)
{
	const char *begun = o->args > 0 ? o->arg[o->args - 1] : "";
	struct before b = { .words = 0 };
	bool helps;

	read_before(o->arg, o->args > 0 ? o->args - 1 : 0, &b);
	/* «help keys fe» is completed as «keys fe» is */
	helps = b.words > 0 && strcmp(b.word[0], "help") == 0;
	if (b.open != NULL)
		offer_values(b.open->value, begun);
	else if (*begun == '-')
		offer_options(command_of(&b), begun);
	else if (b.words == 0 || (helps && b.words == 1))
		offer_commands(NULL, begun);
	else if (b.words == 1 + (size_t)helps && command_is_group(b.word[helps]))
		offer_commands(b.word[helps], begun);
	return 0;
}
