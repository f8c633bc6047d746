/*
 * See argv.h. Must find the same bundle as the runtime: a create that the wrapper overlooks gets every device
 * that its spec names.
 */
#include "argv.h"

#include <stddef.h>
#include <string.h>

/* True unless the value is false as Go's strconv.ParseBool has it («--detach=false»). */
static bool
is_on(const char *value)
{
	return value == NULL || !(strcmp(value, "false") == 0 || strcmp(value, "0") == 0 || strcmp(value, "f") == 0 ||
	    strcmp(value, "F") == 0 || strcmp(value, "FALSE") == 0 || strcmp(value, "False") == 0);
}

/* Checks «[CONTROLLER:]PATH», a cgroup beneath the container's own. crun joins the two paths unchecked. */
static int
check_exec_cgroup(const char *value, struct why *why)
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

static void
take_cgroup_manager(struct command *c, const char *value)
{
	c->systemd_cgroup = strcmp(value, "systemd") == 0;
	c->without_cgroup = c->without_cgroup || strcmp(value, "disabled") == 0;
}

static int
use_option(struct command *c, const struct option *o, const char *value, struct why *why)
{
	switch (o->role) {
	case ROLE_REFUSED:
		return refuse(why, WHY_USAGE, "%s --%s is not supported: %s", c->verb, o->name, o->decides);
	case ROLE_EXEC_CGROUP:
		return check_exec_cgroup(value, why);
	case ROLE_ROOT:
		c->root = value;
		break;
	case ROLE_LOG:
		c->log = value;
		break;
	case ROLE_LOG_FORMAT:
		c->log_json = strcmp(value, "json") == 0;
		break;
	case ROLE_SYSTEMD_CGROUP:
		c->systemd_cgroup = is_on(value);
		break;
	case ROLE_CGROUP_MANAGER:
		take_cgroup_manager(c, value);
		break;
	case ROLE_ROOTLESS:
		c->without_cgroup = c->without_cgroup || (strcmp(value, "auto") != 0 && is_on(value));
		break;
	case ROLE_BUNDLE:
		c->bundle = value;
		break;
	case ROLE_DETACH:
		c->detach = is_on(value);
		break;
	case ROLE_NO_PIVOT:
		c->no_pivot = is_on(value);
		break;
	default:	/* of no interest here, or read by exec.c and update.c */
		break;
	}
	return 0;
}

static int
take_words(struct command *c, int from, int to, struct why *why)
{
	int i;

	for (i = from; i < to; i++)
		if (use_option(c, c->line.word[i].option, c->line.word[i].value, why) == -1)
			return -1;
	return 0;
}

int
argv_parse(int argc, char *const *argv, struct command *c, struct why *why)
{
	const struct parsed_line *r = &c->line;
	struct why ignored;
	int ret;

	memset(c, 0, sizeof(*c));
	ret = parse_line(argc, argv, &c->line, why);
	c->verb_at = r->verb_at;
	c->id_at = r->id_at;
	(void)take_words(c, 0, r->globals, &ignored);
	if (r->verb == NULL || ret == -1)
		return ret;
	c->verb = r->verb->name;
	c->kind = r->verb->kind;
	c->from_image = strcmp(c->verb, "restore") == 0;
	c->id = r->id_at < argc ? argv[r->id_at] : NULL;
	if (c->kind == KIND_REFUSED && c->id != NULL)
		return refuse(why, WHY_USAGE, "%s is not supported: %s", c->verb, r->verb->decides);
	return take_words(c, r->globals, r->words, why);
}

bool
command_makes_container(const struct command *c)
{
	return c->kind == KIND_MAKES && c->id != NULL;
}

bool
command_detaches(const struct command *c)
{
	return command_makes_container(c) && (c->detach || strcmp(c->verb, "create") == 0);
}

const struct word *
command_next(const struct command *c, enum role role, int *from)
{
	int i = *from < c->line.globals ? c->line.globals : *from;

	for (; i < c->line.words; i++)
		if (c->line.word[i].option->role == role) {
			*from = i + 1;
			return &c->line.word[i];
		}
	*from = i;
	return NULL;
}
