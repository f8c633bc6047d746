/*
 * See argv.h.  Must find the bundle wherever the runtime would find it: a
 * create that slips through here gets every device its spec names.
 */
#include "argv.h"

#include <stddef.h>
#include <string.h>

struct option {
	const char *name;
	char letter;		/* short form, 0 if none */
	bool value;		/* takes one */
};

/* runc 1.0 to 1.3 and crun 1.x: options before the verb. */
static const struct option globals[] = {
	{ "root", 0, true }, { "log", 0, true }, { "log-format", 0, true }, { "log-level", 0, true },
	{ "criu", 0, true }, { "rootless", 0, true }, { "cgroup-manager", 0, true }, { "systemd-cgroup", 0, false },
	{ "debug", 0, false }, { "version", 'v', false }, { "help", 'h', false }, { NULL, 0, false },
};

/* And after create, run and restore. */
static const struct option makers[] = {
	{ "bundle", 'b', true }, { "config", 'f', true }, { "console-socket", 0, true }, { "pid-file", 0, true },
	{ "pidfd-socket", 0, true }, { "preserve-fds", 0, true }, { "image-path", 0, true }, { "work-path", 0, true },
	{ "parent-path", 0, true }, { "manage-cgroups-mode", 0, true }, { "empty-ns", 0, true },
	{ "status-fd", 0, true }, { "lsm-profile", 0, true }, { "lsm-mount-context", 0, true },
	{ "detach", 'd', false }, { "keep", 0, false }, { "no-pivot", 0, false }, { "no-new-keyring", 0, false },
	{ "no-subreaper", 0, false }, { "tcp-established", 0, false }, { "tcp-close", 0, false },
	{ "ext-unix-sk", 0, false }, { "shell-job", 0, false }, { "file-locks", 0, false },
	{ "auto-dedup", 0, false }, { "lazy-pages", 0, false }, { "no-prestart-hooks", 0, false },
	{ "help", 'h', false }, { NULL, 0, false },
};

/* Verbs whose first argument is the container's id; their options are the runtime's own affair. */
static const struct option others[] = {
	{ "format", 'f', true }, { "process", 'p', true }, { "pid-file", 0, true }, { "console-socket", 0, true },
	{ "force", 'f', false }, { "all", 'a', false }, { NULL, 0, false },
};

/* exec: what comes after the id is the command's own. */
static const struct option execs[] = {
	{ "process", 'p', true }, { "env", 'e', true }, { "console-socket", 0, true }, { "pidfd-socket", 0, true },
	{ "cwd", 0, true }, { "user", 'u', true }, { "additional-gids", 'g', true }, { "pid-file", 0, true },
	{ "process-label", 0, true }, { "apparmor", 0, true }, { "cap", 'c', true }, { "preserve-fds", 0, true },
	{ "cgroup", 0, true }, { "tty", 't', false }, { "detach", 'd', false }, { "no-new-privs", 0, false },
	{ "ignore-paused", 0, false }, { "help", 'h', false }, { NULL, 0, false },
};

/* update: options may stand anywhere. */
static const struct option updates[] = {
	{ "resources", 'r', true }, { "blkio-weight", 0, true }, { "cpu-period", 0, true }, { "cpu-quota", 0, true },
	{ "cpu-burst", 0, true }, { "cpu-rt-period", 0, true }, { "cpu-rt-runtime", 0, true }, { "cpu-share", 0, true },
	{ "cpu-idle", 0, true }, { "cpuset-cpus", 0, true }, { "cpuset-mems", 0, true }, { "kernel-memory", 0, true },
	{ "kernel-memory-tcp", 0, true }, { "memory", 0, true }, { "memory-reservation", 0, true },
	{ "memory-swap", 0, true }, { "pids-limit", 0, true }, { "l3-cache-schema", 0, true },
	{ "mem-bw-schema", 0, true }, { "help", 'h', false }, { NULL, 0, false },
};

static const char *const verbs[] = {
	"create", "run", "restore", "start", "exec", "kill", "delete", "state", "list", "ps", "pause", "resume", "update",
	"events", "spec", "checkpoint", "features", "help", "init", "version", "mounts", NULL,
};

static bool
is_verb(const char *s)
{
	size_t i;

	for (i = 0; verbs[i] != NULL; i++)
		if (strcmp(verbs[i], s) == 0)
			return true;
	return false;
}

/* The option that «name» of this length means: itself, else the only one that it abbreviates. */
static const struct option *
find_long(const struct option *table, const char *name, size_t len, bool abbreviated)
{
	const struct option *o, *found = NULL;

	for (o = table; o->name != NULL; o++)
		if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			return o;
	for (o = table; abbreviated && len > 0 && o->name != NULL; o++)
		if (strncmp(o->name, name, len) == 0) {
			if (found != NULL)
				return NULL;
			found = o;
		}
	return found;
}

static const struct option *
find_letter(const struct option *table, char letter)
{
	for (; table->name != NULL; table++)
		if (table->letter != 0 && table->letter == letter)
			return table;
	return NULL;
}

/* One word of the command line, taken apart. */
struct word {
	const struct option *option;	/* NULL: not one of the table's */
	bool is_option;
	bool detach;			/* there is a -d among its letters */
	const char *value;		/* NULL: none in this word */
};

static void
read_word(const struct option *table, const char *arg, struct word *w)
{
	const char *name, *equals;
	const struct option *o;
	bool two;

	*w = (struct word){ .is_option = arg[0] == '-' && arg[1] != '\0' };
	if (!w->is_option)
		return;
	two = arg[1] == '-';
	name = arg + 1 + two;
	equals = strchr(name, '=');
	if ((w->option = find_long(table, name, equals != NULL ? (size_t)(equals - name) : strlen(name), two)) != NULL) {
		w->value = equals != NULL ? equals + 1 : NULL;
		return;
	}
	for (; !two && (o = find_letter(table, *name)) != NULL; name++) {
		w->option = o;
		w->detach = w->detach || o->letter == 'd';
		w->value = name[1] == '=' ? name + 2 : name[1] != '\0' && o->value ? name + 1 : NULL;
		/* crun takes several in one word, the last of them with a value */
		if (w->value != NULL || name[1] == '\0')
			return;
	}
	w->option = NULL;
	w->value = equals != NULL ? equals + 1 : NULL;
}

/* True unless the value says false («--detach=false», Go's strconv.ParseBool). */
static bool
is_on(const char *value)
{
	return value == NULL || !(strcmp(value, "false") == 0 || strcmp(value, "0") == 0 || strcmp(value, "f") == 0 ||
	    strcmp(value, "F") == 0 || strcmp(value, "FALSE") == 0 || strcmp(value, "False") == 0);
}

static void
take_global(struct command *c, const struct option *o, const char *value)
{
	if (strcmp(o->name, "root") == 0)
		c->root = value;
	else if (strcmp(o->name, "log") == 0)
		c->log = value;
	else if (strcmp(o->name, "log-format") == 0)
		c->log_json = value != NULL && strcmp(value, "json") == 0;
	else if (strcmp(o->name, "systemd-cgroup") == 0)
		c->systemd_cgroup = is_on(value);
	else if (strcmp(o->name, "cgroup-manager") == 0) {
		c->systemd_cgroup = value != NULL && strcmp(value, "systemd") == 0;
		c->without_cgroup = c->without_cgroup || (value != NULL && strcmp(value, "disabled") == 0);
	} else if (strcmp(o->name, "rootless") == 0)
		c->without_cgroup = c->without_cgroup || (value != NULL && strcmp(value, "auto") != 0 && is_on(value));
}

/* Up to and with the verb; the index after it, or argc. */
static int
parse_globals(int argc, char *const *argv, struct command *c)
{
	bool unknown = false;
	struct word w;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			continue;
		read_word(globals, argv[i], &w);
		if (!w.is_option) {
			/* after an option that we do not know, this may be its value */
			if (unknown && !is_verb(argv[i])) {
				unknown = false;
				continue;
			}
			c->verb = argv[i];
			c->verb_at = i;
			return i + 1;
		}
		unknown = w.option == NULL && w.value == NULL;
		if (w.option != NULL && w.option->value && w.value == NULL && i + 1 < argc)
			w.value = argv[++i];
		if (w.option != NULL)
			take_global(c, w.option, w.value);
	}
	return argc;
}

static int
take_maker(struct command *c, const struct option *o, const char *value, struct why *why)
{
	if (strcmp(o->name, "bundle") == 0)
		c->bundle = value;
	else if (strcmp(o->name, "detach") == 0)
		c->detach = is_on(value);
	else if (strcmp(o->name, "config") == 0)
		return refuse(why, WHY_USAGE, "%s --config is not supported: the bundle's config.json is what counts", c->verb);
	return 0;
}

/* create, run, restore: options may stand before and after the id, which is the last word that is none. */
static int
parse_maker(int argc, char *const *argv, int i, struct command *c, struct why *why)
{
	bool words_only = false;
	struct word w;

	for (; i < argc; i++) {
		if (!words_only && strcmp(argv[i], "--") == 0) {
			words_only = true;
			continue;
		}
		read_word(makers, argv[i], &w);
		if (words_only || !w.is_option) {
			c->id = argv[i];
			continue;
		}
		if (w.option == NULL)
			continue;
		c->detach = c->detach || w.detach;
		if (w.option->value && w.value == NULL) {
			if (i + 1 == argc)
				return refuse(why, WHY_USAGE, "%s: option %s needs a value", c->verb, argv[i]);
			w.value = argv[++i];
		}
		if (take_maker(c, w.option, w.value, why) == -1)
			return -1;
	}
	if (c->id == NULL)
		return refuse(why, WHY_USAGE, "%s: no container id", c->verb);
	return 0;
}

static void
parse_other(int argc, char *const *argv, int i, struct command *c)
{
	struct word w;

	for (; i < argc && c->id == NULL; i++) {
		if (strcmp(argv[i], "--") == 0)
			continue;
		read_word(others, argv[i], &w);
		if (!w.is_option)
			c->id = argv[i];
		else if (w.option != NULL && w.option->value && w.value == NULL && strcmp(c->verb, "delete") != 0)
			i++;
	}
}

bool
command_makes_container(const struct command *c)
{
	return c->verb != NULL &&
	    (strcmp(c->verb, "create") == 0 || strcmp(c->verb, "run") == 0 || strcmp(c->verb, "restore") == 0);
}

bool
command_leaves_container(const struct command *c)
{
	return command_makes_container(c) && (c->detach || strcmp(c->verb, "create") == 0);
}

int
argv_parse(int argc, char *const *argv, struct command *c, struct why *why)
{
	int i;

	*c = (struct command){ .verb_at = argc, .id_at = argc };
	i = parse_globals(argc, argv, c);
	if (c->verb == NULL)
		return 0;
	if (command_makes_container(c))
		return parse_maker(argc, argv, i, c, why);
	parse_other(argc, argv, i, c);
	return 0;
}

static bool
is_exec_word(const char *name, enum exec_option *out)
{
	static const char *const names[] = { "process", "env", "console-socket", "cap" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0) {
			*out = (enum exec_option)i;
			return true;
		}
	return false;
}

/* «[CONTROLLER:]PATH», beneath the container's own cgroup: crun joins the two as they are. */
static int
check_cgroup(const char *value, struct why *why)
{
	const char *p;
	size_t n;

	for (p = value; *p != '\0'; p += n + (p[n] != '\0')) {
		n = strcspn(p, "/:,");
		if (n == 2 && strncmp(p, "..", 2) == 0)
			return refuse(why, WHY_DENIED, "exec --cgroup %.200s leads out of the container's own cgroup", value);
	}
	return 0;
}

int
argv_parse_exec(int argc, char *const *argv, struct command *c, struct exec_word *words, struct why *why)
{
	enum exec_option option;
	struct word w;
	int i, n = 0, at;

	for (i = c->verb_at + 1; i < argc; i++) {
		at = i;
		read_word(execs, argv[i], &w);
		if (!w.is_option || strcmp(argv[i], "--") == 0) {
			i += !w.is_option ? 0 : 1;
			break;
		}
		if (w.option == NULL)
			continue;
		if (w.option->value && w.value == NULL && i + 1 < argc)
			w.value = argv[++i];
		if (w.value != NULL && strcmp(w.option->name, "cgroup") == 0 && check_cgroup(w.value, why) == -1)
			return -1;
		if (w.value == NULL || !is_exec_word(w.option->name, &option))
			continue;
		if (n == EXEC_WORDS_MAX)
			return refuse(why, WHY_USAGE, "exec: more than %d options", EXEC_WORDS_MAX);
		words[n++] = (struct exec_word){ .option = option, .at = at, .value_at = i, .value = w.value };
	}
	c->id_at = i < argc ? i : argc;
	c->id = i < argc ? argv[i] : NULL;
	return n;
}

int
argv_parse_update(int argc, char *const *argv, const struct command *c, struct resources_word *word,
    struct why *why)
{
	struct word w;
	int i, at;

	*word = (struct resources_word){ 0 };
	for (i = c->verb_at + 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		at = i;
		read_word(updates, argv[i], &w);
		if (w.option == NULL)
			continue;
		if (w.option->value && w.value == NULL && i + 1 < argc)
			w.value = argv[++i];
		if (strcmp(w.option->name, "resources") != 0 || w.value == NULL)
			continue;
		if (word->value != NULL)
			return refuse(why, WHY_USAGE, "update: more than one --resources");
		*word = (struct resources_word){ at, i, w.value };
	}
	return 0;
}
