/*
 * gpuhelperctl: the administrator's tool.  Runs with the rights of who calls it
 * and must never have more: it reads files that its caller names.
 *
 * Reads the command line, in which options may stand before and after the
 * subcommand; each subcommand has a file of its own.
 */
#include "ctl.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "../pure/text.h"
#include "../user/namespace.h"

enum { CHECK = 1 << 0, EXPLAIN = 1 << 1, DEVICES = 1 << 2, KEYS = 1 << 3, STATUS = 1 << 4, REAP = 1 << 5,
	REAPPLY = 1 << 6, CDI = 1 << 7, DOCTOR = 1 << 8,
	ALL = CHECK | EXPLAIN | DEVICES | KEYS | STATUS | REAP | REAPPLY | CDI | DOCTOR };
enum { OPT_HELP = 'h', OPT_VERSION = 'V', OPT_WORD = 1, OPT_FIRST = 256 };

static const struct command {
	const char *name;
	unsigned bit;
	bool words;		/* takes some after it */
	int (*run)(const struct options *);
} commands[] = {
	{ "check", CHECK, true, ctl_check },
	{ "explain", EXPLAIN, false, ctl_explain },
	{ "devices", DEVICES, false, ctl_devices },
	{ "keys", KEYS, true, ctl_keys },
	{ "status", STATUS, false, ctl_status },
	{ "reap", REAP, false, ctl_reap },
	{ "reapply", REAPPLY, false, ctl_reapply },
	{ "cdi", CDI, true, ctl_cdi },
	{ "doctor", DOCTOR, false, ctl_doctor },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* The options, whose they are, and where their value goes. */
static const struct known {
	const char *name;
	char letter;
	bool value;
	unsigned commands;
	size_t place;
} known[] = {
	{ "config-dir", 0, true, ALL, offsetof(struct options, config_dir) },
	{ "json", 0, false, ALL, offsetof(struct options, json) },
	{ "verbose", 'v', false, CHECK, offsetof(struct options, verbose) },
	{ "dry-run", 'n', false, REAP, offsetof(struct options, dry_run) },
	{ "bundle", 'b', true, EXPLAIN, offsetof(struct options, bundle) },
	{ "user", 0, true, EXPLAIN | DOCTOR, offsetof(struct options, user) },
	{ "pipeline", 0, true, EXPLAIN, offsetof(struct options, pipeline) },
	{ "job", 0, true, EXPLAIN, offsetof(struct options, job) },
	{ "identity", 0, true, EXPLAIN, offsetof(struct options, identity) },
	{ "issuer", 0, true, EXPLAIN | KEYS, offsetof(struct options, issuer) },
	{ "gpus", 0, true, EXPLAIN, offsetof(struct options, gpus) },
	{ "folders", 0, true, EXPLAIN, offsetof(struct options, folders) },
	{ "instance-vars", 0, true, EXPLAIN, offsetof(struct options, instance_vars) },
	{ "token-file", 0, true, EXPLAIN, offsetof(struct options, token_file) },
	{ "at", 0, true, EXPLAIN, offsetof(struct options, at) },
	{ "output-dir", 0, true, KEYS, offsetof(struct options, output_dir) },
	{ "cacert", 0, true, KEYS, offsetof(struct options, cacert) },
	{ "from", 0, true, KEYS, offsetof(struct options, from) },
	{ "spec-dirs", 0, true, CDI, offsetof(struct options, spec_dirs) },
	{ "device", 0, true, CDI, offsetof(struct options, device) },
	{ "host", 0, false, CDI, offsetof(struct options, host) },
	{ "vendor", 0, true, CDI, offsetof(struct options, vendor) },
	{ "output", 0, true, CDI, offsetof(struct options, output) },
	{ "root", 0, true, CDI, offsetof(struct options, root) },
	{ "rocm-libs", 0, false, CDI, offsetof(struct options, rocm_libs) },
	{ "mps", 0, false, CDI, offsetof(struct options, mps) },
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static const char help[] =
    "usage: gpuhelperctl [--config-dir DIR] [--json] COMMAND [...]\n"
    "\n"
    "  check [-v] [DIR|FILE ...]     judge gpuhelper.conf and the policies\n"
    "  explain --bundle DIR [--user USER]\n"
    "  explain [--pipeline TEAM/PIPELINE] [--job JOB] [--identity token|claim|caller]\n"
    "          [--issuer URL] [--instance-vars JSON] [--gpus LIST] [--folders LIST]\n"
    "          [--user USER]\n"
    "                                which policy decides, and why no other does\n"
    "  explain --token-file FILE|- [--at TIME] [--gpus LIST] [--folders LIST] [--user USER]\n"
    "                                whether the token holds; then, if asked for, the same\n"
    "  devices                       the GPUs of this host and their nodes\n"
    "  keys fetch [--output-dir DIR] [--cacert FILE] [ISSUER_URL]\n"
    "  keys show\n"
    "  keys import --issuer URL FILE|-\n"
    "                                the keys with which tokens are verified\n"
    "  status                        who holds which GPU, and who waits\n"
    "  reap [-n]                     end the leases that are over; with -n only name them\n"
    "  reapply                       open leased nodes again that something has reset\n"
    "  cdi validate [--host] FILE... whether CDI specs are valid, and safe for a helper of root's\n"
    "  cdi list [--spec-dirs DIR:...]\n"
    "                                the CDI devices of this host, and where they are from\n"
    "  cdi inject [--spec-dirs DIR:...] --device NAME ... CONFIG.json|-\n"
    "                                CONFIG.json with these devices in it, on stdout\n"
    "  cdi generate [--vendor nvidia|amd|intel] [--output FILE|DIR/] [--rocm-libs] [--mps]\n"
    "               [--root DIR]     a CDI spec of this host's GPUs and their driver's files\n"
    "  doctor [--user USER]          each step from the engine to the GPUs: ok, warn or fail\n"
    "\n"
    "  --config-dir DIR   in place of " GPUHELPER_CONFDIR "\n"
    "  --json             for programs\n"
    "  --help, --version\n"
    "\n"
    "See gpuhelperctl(8).\n";

static const struct command *
find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int
unknown_command(const char *name)
{
	const char *names[COMMANDS + 1], *near;
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	names[i] = NULL;
	if ((near = text_nearest(name, names)) != NULL)
		return complain(WHY_USAGE, "unknown command \"%s\"; did you mean \"%s\"?", name, near);
	return complain(WHY_USAGE, "unknown command \"%s\" (see gpuhelperctl --help)", name);
}

static int
unknown_option(const char *word)
{
	const char *names[KNOWN + 1], *near = NULL;
	size_t i, n = strcspn(word, "=");
	char name[32];

	for (i = 0; i < KNOWN; i++)
		names[i] = known[i].name;
	names[i] = NULL;
	if (text_starts(word, "--") && n < sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)(n - 2), word + 2);
		near = text_nearest(name, names);
	}
	if (near != NULL)
		return complain(WHY_USAGE, "unknown option \"%s\"; did you mean \"--%s\"?", word, near);
	return complain(WHY_USAGE, "unknown option \"%s\" (see gpuhelperctl --help)", word);
}

static void
take_option(struct options *o, const struct known *k, const char *value)
{
	char *place = (char *)o + k->place;

	if (k->place == offsetof(struct options, device))
		o->device[o->devices++] = value;
	else if (k->value)
		memcpy(place, &value, sizeof(value));
	else
		*(bool *)place = true;
}

/* For getopt_long: our table, --help and --version. */
static void
fill_table(struct option table[KNOWN + 3])
{
	size_t i;

	for (i = 0; i < KNOWN; i++)
		table[i] = (struct option){ known[i].name, known[i].value ? required_argument : no_argument, NULL,
			OPT_FIRST + (int)i };
	table[i++] = (struct option){ "help", no_argument, NULL, OPT_HELP };
	table[i++] = (struct option){ "version", no_argument, NULL, OPT_VERSION };
	table[i] = (struct option){ NULL, 0, NULL, 0 };
}

static const struct known *
by_value(int c)
{
	size_t i;

	for (i = 0; i < KNOWN; i++)
		if (c == OPT_FIRST + (int)i || (known[i].letter != 0 && c == known[i].letter))
			return &known[i];
	return NULL;
}

/* -1: go on; else the exit status.  *used gets a bit for each option that was given. */
static int
parse(int argc, char **argv, struct options *o, unsigned *used)
{
	struct option table[KNOWN + 3];
	const struct known *k;
	int c, at;

	fill_table(table);
	opterr = 0;
	/* '-': words come in their place, whatever POSIXLY_CORRECT says; ':': a missing value is told apart */
	while (at = optind, (c = getopt_long(argc, argv, "-:b:hnv", table, NULL)) != -1) {
		if (c == OPT_WORD) {
			o->arg[o->args++] = optarg;
		} else if (c == OPT_HELP) {
			fputs(help, stdout);
			return 0;
		} else if (c == OPT_VERSION) {
			puts("gpuhelperctl " GPUHELPER_VERSION);
			return 0;
		} else if (c == ':') {
			return complain(WHY_USAGE, "option \"%s\" needs a value", argv[optind - 1]);
		} else if ((k = by_value(c)) != NULL) {
			take_option(o, k, optarg);
			*used |= 1U << (k - known);
		} else
			return unknown_option(argv[at]);
	}
	while (optind < argc)
		o->arg[o->args++] = argv[optind++];
	return -1;
}

static int
run(int argc, char **argv, struct options *o)
{
	const struct command *c;
	unsigned used = 0;
	size_t i;
	int status;

	if ((status = parse(argc, argv, o, &used)) != -1)
		return status;
	if (o->args == 0)
		return complain(WHY_USAGE, "no command (see gpuhelperctl --help)");
	if ((c = find_command(o->arg[0])) == NULL)
		return unknown_command(o->arg[0]);
	for (i = 0; i < KNOWN; i++)
		if ((used & 1U << i) != 0 && (known[i].commands & c->bit) == 0)
			return complain(WHY_USAGE, "%s has no option --%s (see gpuhelperctl --help)", c->name, known[i].name);
	o->arg++;
	o->args--;
	if (o->args > 0 && !c->words)
		return complain(WHY_USAGE, "%s takes no \"%s\" (see gpuhelperctl --help)", c->name, o->arg[0]);
	return c->run(o);
}

int
main(int argc, char **argv)
{
	struct options o = { .config_dir = GPUHELPER_CONFDIR };
	const char **devices;
	char **words;
	int status;

	if (getauxval(AT_SECURE) != 0)
		return complain(WHY_DENIED, "started with more rights than its caller has: it must not be setuid, setgid or "
		    "have file capabilities (chmod 0755 it)");
	namespace_begin();
	words = calloc((size_t)argc + 1, sizeof(*words));
	devices = calloc((size_t)argc + 1, sizeof(*devices));
	o.arg = words;
	o.device = devices;
	status = words != NULL && devices != NULL ? run(argc, argv, &o) : complain(WHY_BUG, "out of memory");
	free(words);
	free(devices);
	/* half a list must not pass for a whole one */
	if (fflush(stdout) == EOF || ferror(stdout))
		return complain(WHY_IO, "stdout can't be written");
	return status;
}
