/* See cmdline.h.  Options may stand before and after the subcommand; the table of commands.c says which it takes. */
#include "cmdline.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../base/text.h"
#include "../base/textnear.h"
#include "commands.h"

enum { GOT_HELP = 'h', GOT_VERSION = 'V', GOT_WORD = 1, GOT_FIRST = 256 };

/* What the command line contains in addition to the values in struct options. */
struct given {
	uint64_t options;	/* a bit for each enum opt */
	bool help, version;
};

static int
unknown_option(const struct options *o, const char *word)
{
	const char *names[OPTS + 3], *near = NULL;
	size_t i, n = strcspn(word, "=");
	char name[32];

	for (i = 0; i < OPTS; i++)
		names[i] = option_kinds[i].name;
	names[i++] = "help";
	names[i++] = "version";
	names[i] = NULL;
	if (text_starts(word, "--") && n < sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)(n - 2), word + 2);
		near = text_nearest(name, names);
	}
	/* a known name gets here only with a value that it does not take */
	if (near != NULL && strcmp(near, name) != 0)
		return misuse(o, "unknown option \"%s\"; did you mean \"--%s\"?", word, near);
	if (near != NULL)
		return misuse(o, "option \"--%s\" takes no value", near);
	return misuse(o, "unknown option \"%s\" (see gpuhelperctl --help)", word);
}

static void
take_option(struct options *o, const struct option_kind *k, const char *value)
{
	char *offset = (char *)o + k->offset;

	if (k == &option_kinds[OPT_DEVICE])
		o->device[o->devices++] = value;
	else if (k == &option_kinds[OPT_INSTANCE_VAR])
		o->instance_var[o->instance_var_count++] = value;
	else if (k == &option_kinds[OPT_LIBRARY_PATH])
		o->library_path[o->library_paths++] = value;
	else if (k->value != NULL)
		memcpy(offset, &value, sizeof(value));
	else
		*(bool *)offset = true;
}

/* The tables for getopt_long(3). */
static void
fill_tables(struct option table[OPTS + 3], char letters[2 * OPTS + 8])
{
	size_t i;

	/* '-': return words in their order, despite POSIXLY_CORRECT; ':': return ':' if a value is missing */
	letters += sprintf(letters, "-:hV");
	for (i = 0; i < OPTS; i++) {
		table[i] = (struct option){ option_kinds[i].name, option_kinds[i].value != NULL ? required_argument : no_argument,
			NULL, GOT_FIRST + (int)i };
		if (option_kinds[i].letter != 0)
			letters += sprintf(letters, "%c%s", option_kinds[i].letter, option_kinds[i].value != NULL ? ":" : "");
	}
	table[i++] = (struct option){ "help", no_argument, NULL, GOT_HELP };
	table[i++] = (struct option){ "version", no_argument, NULL, GOT_VERSION };
	table[i] = (struct option){ NULL, 0, NULL, 0 };
}

static const struct option_kind *
by_value(int c)
{
	size_t i;

	for (i = 0; i < OPTS; i++)
		if (c == GOT_FIRST + (int)i || (option_kinds[i].letter != 0 && c == option_kinds[i].letter))
			return &option_kinds[i];
	return NULL;
}

/* Parses the options and words.  0, or the exit status after a complaint. */
static int
parse_args(int argc, char **argv, struct options *o, struct given *g)
{
	struct option table[OPTS + 3];
	char letters[2 * OPTS + 8];
	const struct option_kind *k;
	int c, at;

	fill_tables(table, letters);
	opterr = 0;
	while (at = optind, (c = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		if (c == GOT_WORD) {
			o->arg[o->args++] = optarg;
		} else if (c == GOT_HELP) {
			g->help = true;
		} else if (c == GOT_VERSION) {
			g->version = true;
		} else if (c == ':') {
			return misuse(o, "option \"%s\" needs a value", argv[optind - 1]);
		} else if ((k = by_value(c)) != NULL) {
			take_option(o, k, optarg);
			g->options |= (uint64_t)1 << (k - option_kinds);
		} else
			return unknown_option(o, argv[at]);
	}
	while (optind < argc)
		o->arg[o->args++] = argv[optind++];
	return 0;
}

/* Checks that the subcommand takes these options and words.  0, or the exit status after a complaint. */
static int
check_taken(const struct command *c, const struct options *o, const struct given *g)
{
	const struct takes *t;
	unsigned i;

	for (i = 0; i < OPTS; i++)
		if ((g->options & (uint64_t)1 << i) != 0 && command_takes(c, (enum opt)i) == NULL)
			return misuse(o, "%s has no option --%s (see gpuhelperctl help %s)", c->name, option_kinds[i].name, c->name);
	for (t = c->takes; t->help != NULL; t++)
		if (t->must && (g->options & (uint64_t)1 << t->option) == 0)
			return misuse(o, "%s needs --%s %s (see gpuhelperctl help %s)", c->name, option_kinds[t->option].name,
			    option_kinds[t->option].value, c->name);
	if (o->args < c->least)
		return misuse(o, "%s needs %s (see gpuhelperctl help %s)", c->name, c->words, c->name);
	if (o->args > c->most)
		return misuse(o, "%s takes no \"%s\" (see gpuhelperctl help %s)", c->name, o->arg[c->most], c->name);
	return 0;
}

/* Looks for --json before the command line is parsed, so that a usage error is printed as JSON too. */
static bool
wants_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

int
cmdline_run(int argc, char **argv, struct options *o)
{
	struct given g = { 0 };
	const struct command *c;
	struct why why;
	size_t used;
	int status;

	o->json = wants_json(argc, argv);
	if ((status = parse_args(argc, argv, o, &g)) != 0)
		return status;
	if (g.help)
		return help_print(o);
	if (g.version)
		return ctl_version(o);
	if (o->args == 0)
		return misuse(o, "no command (see gpuhelperctl --help)");
	if ((c = command_find(o->arg, o->args, &used, &why)) == NULL)
		return give_up(o, &why);
	o->arg += used;
	o->args -= used;
	o->elsewhere = (g.options & (uint64_t)1 << OPT_CONFIG_DIR) != 0;
	return (status = check_taken(c, o, &g)) != 0 ? status : c->run(o);
}
