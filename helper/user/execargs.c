/* See execargs.h. Must keep every word that it does not mean to change: the engine chose it. */
#include "execargs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "spec/specprocess.h"

/* The words of the new command line. */
struct words {
	char **v;
	size_t n;
	bool failed;
};

static void
add_word(struct words *w, const char *s)
{
	char *copy = strdup(s);

	if (copy == NULL)
		w->failed = true;
	else
		w->v[w->n++] = copy;
}

/*
 * Adds what was granted as --env and --additional-gids, for a command line without --process. «env_option» is
 * the form of --env in use: runc accepts only one.
 */
static void
add_granted_options(struct words *w, const struct exec_record *r, const char *env_option, const char *runtime)
{
	autofree char *real = realpath(runtime, NULL);
	char number[16];
	size_t i;

	for (i = 0; i < r->env.n; i++) {
		add_word(w, env_option);
		add_word(w, r->env.v[i]);
	}
	/* crun's exec has no such option, so its processes do without the granted groups */
	if (real != NULL && strcmp(strrchr(real, '/') + 1, "crun") == 0)
		return;
	for (i = 0; i < r->gids; i++) {
		snprintf(number, sizeof(number), "%u", r->gid[i]);
		add_word(w, "--additional-gids");
		add_word(w, number);
	}
}

/* The form of --env in use: «-e» if there is one, otherwise «--env». */
static const char *
env_form(char *const *argv, const struct command *c)
{
	const struct word *w;
	int from = 0;

	while ((w = command_next(c, ROLE_ENV, &from)) != NULL)
		if (text_starts(argv[w->at], "-e") && !text_starts(argv[w->at], "-env"))
			return "-e";
	return "--env";
}

/*
 * crun accepts several letters in one word («-dp FILE»). Keeps those before the last as options of their own.
 */
static void
keep_letters(struct words *to, const char *word, char last)
{
	char letters[16];
	size_t n = 0;

	while (last != 0 && word[1] != '-' && word[n] != '\0' && word[n] != last)
		n++;
	if (n < 2 || n >= sizeof(letters))
		return;
	snprintf(letters, sizeof(letters), "%.*s", (int)n, word);
	add_word(to, letters);
}

/* The new value of an option: "" removes the option, NULL keeps its value. */
static const char *
new_value(const struct word *w, const char *path, const struct exec_record *r, const struct waiter *waiter)
{
	switch (w->option->role) {
	case ROLE_PROCESS:
		return *path != '\0' ? path : NULL;
	case ROLE_FDS:
		return waiter->used ? waiter->count : NULL;
	case ROLE_LABEL:
		return r->label;
	case ROLE_ENV:
		return process_env_is_taken_out(w->value, &r->tokens) ? "" : NULL;
	default:
		return NULL;
	}
}

/*
 * Copies the words of one option with its new value. Letters that share a word are copied with it. Returns
 * the index of the last word of argv that was used.
 */
static int
rewrite_word(char *const *argv, const struct word *w, const char *value, struct words *to)
{
	char name[64];
	int i;

	if (value == NULL) {
		for (i = w->at; i <= w->value_at; i++)
			add_word(to, argv[i]);
		return w->value_at;
	}
	keep_letters(to, argv[w->at], w->option->letter);
	if (*value != '\0') {
		snprintf(name, sizeof(name), "--%s", w->option->name);
		add_word(to, name);
		add_word(to, value);
	}
	return w->value_at;
}

/*
 * The index where options may still be added: before the container id, and before a «--» that ends the
 * options.
 */
static int
options_end(char *const *argv, const struct command *c)
{
	int last = c->line.words > 0 ? c->line.word[c->line.words - 1].value_at : 0, before = c->id_at - 1;

	return before > last && before > c->verb_at && strcmp(argv[before], "--") == 0 ? before : c->id_at;
}

/* Adds the options for the waiter, unless the command line has them already, with new values. */
static void
add_waiter_options(struct words *to, const struct command *c, const struct waiter *waiter)
{
	int from = 0;

	if (!waiter->used || command_next(c, ROLE_FDS, &from) != NULL)
		return;
	add_word(to, "--preserve-fds");
	add_word(to, waiter->count);
}

static void
rewrite(int argc, char *const *argv, const struct command *c, const struct exec_plan *p, const struct exec_record *r,
    const char *runtime, struct words *to)
{
	int i, k = c->line.globals, end = options_end(argv, c);

	for (i = 0; i < argc; i++) {
		if (i == end)
			add_waiter_options(to, c, &p->waiter);
		if (i == end && !p->has_process)
			add_granted_options(to, r, env_form(argv, c), runtime);
		if (i == c->id_at + 1 && p->waiter.used && !p->has_process) {
			add_word(to, p->waiter.program);
			add_word(to, p->waiter.numbers);
		}
		/* if several letters share a word, only the last one can have a value */
		while (k < c->line.words && (c->line.word[k].at < i || (k + 1 < c->line.words && c->line.word[k].at == i &&
		    c->line.word[k + 1].at == i)))
			k++;
		if (k == c->line.words || c->line.word[k].at != i)
			add_word(to, argv[i]);
		else
			i = rewrite_word(argv, &c->line.word[k], new_value(&c->line.word[k], p->paths[k], r, &p->waiter), to);
	}
}

char **
exec_args(int argc, char *const *argv, const struct command *c, const struct exec_plan *p, const struct exec_record *r,
    const char *runtime)
{
	struct words w = { 0 };

	w.v = calloc((size_t)argc + 2 * (r->env.n + r->gids) + 2 * (size_t)c->line.words + 6, sizeof(*w.v));
	if (w.v != NULL)
		rewrite(argc, argv, c, p, r, runtime, &w);
	if (!w.failed)
		return w.v;
	free(w.v);
	return NULL;
}
