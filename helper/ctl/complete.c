/*
 * gpuhelperctl complete: prints the words that could stand at the cursor, for shells (helper/completion).  Takes them
 * from the table of commands.c, as help does.  Prints nothing where a file or free text is expected.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../base/text.h"
#include "commands.h"

/* The words before the cursor. */
struct before {
	char *word[2];			/* the words that may name a subcommand */
	size_t words;
	const struct option_kind *open;	/* the option whose value comes next, or NULL */
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
parse_before(char *const *word, size_t n, struct before *b)
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

/* Offers the words of a value like "token|claim|caller".  An upper-case name like "FILE" has no fixed words. */
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

/*
 * Offers the first words, or a group's second words.  A group's commands are adjacent, so each first word comes once.
 */
static void
offer_commands(const char *group, const char *begun)
{
	const char *name;
	size_t i, n;
	bool known;

	for (i = 0; i < commands_n; i++) {
		name = commands[i].name;
		n = strcspn(name, " ");
		known = i > 0 && name[n] == ' ' && strncmp(commands[i - 1].name, name, n) == 0 &&
		    (commands[i - 1].name[n] == ' ' || commands[i - 1].name[n] == '\0');
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

	parse_before(o->arg, o->args > 0 ? o->args - 1 : 0, &b);
	/* «help keys fe» completes like «keys fe» */
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
