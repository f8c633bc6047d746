/* See settings.h.  Pure: reads a text, decides nothing. */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "path.h"

/* Where the usual engines keep root filesystems; a host with another place names it. */
static const char *const engines[] = {
	"/worker-state/volumes",	/* Concourse's official image */
	"/var/lib/containers/storage",	/* podman, CRI-O */
	"/var/lib/containerd",
	"/run/containerd",
	"/var/lib/docker",
};

bool
settings_default(struct settings *s)
{
	size_t i;

	*s = (struct settings){ .privileged = PRIVILEGED_HIDE_GPUS, .max_wait = 240 };
	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (!strlist_add(&s->volumes, engines[i], SIZE_MAX))
			return false;
	return true;
}

static void
absolute(config_setting_t *s, const char *path, struct faults *f)
{
	struct why why;

	if (path_check(path, &why) == -1)
		fault_add(f, conf_line(s), false, "%s", why.text);
}

static void
read_runtime(config_setting_t *s, void *out, struct faults *f)
{
	struct settings *c = out;

	conf_string(s, &c->runtime, f);
	if (c->runtime != NULL)
		absolute(s, c->runtime, f);
}

static void
read_volumes(config_setting_t *s, void *out, struct faults *f)
{
	struct settings *c = out;
	size_t i;

	strlist_free(&c->volumes);
	conf_strings(s, &c->volumes, f);
	for (i = 0; i < c->volumes.n; i++) {
		absolute(s, c->volumes.v[i], f);
		if (strcmp(c->volumes.v[i], "/") == 0)
			fault_add(f, conf_line(s), false, "volumes: \"/\" would let a task take the host for its root");
	}
}

static void
read_privileged(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "deny", "hide-gpus", "allow", NULL };
	static const enum privileged values[] = { PRIVILEGED_DENY, PRIVILEGED_HIDE_GPUS, PRIVILEGED_ALLOW };
	struct settings *c = out;
	unsigned i = 0;

	conf_word(s, words, &i, f);
	c->privileged = values[i];
}

static void
read_grant_unasked(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct settings *)out)->grant_unasked, f);
}

static void
read_allow_integrated(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct settings *)out)->allow_integrated, f);
}

static void
read_unenforced(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "deny", "allow", NULL };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct settings *)out)->unenforced = i == 1;
}

static void
read_max_wait(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 0, 86400, &((struct settings *)out)->max_wait, f);
}

static void
read_audit_plain(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct settings *)out)->audit_plain, f);
}

static void
read_audit(config_setting_t *s, void *out, struct faults *f)
{
	static const struct conf_key keys[] = { { "plain", read_audit_plain }, { NULL, NULL } };

	conf_group(s, keys, out, f);
}

static const struct conf_key keys[] = {
	{ "runtime", read_runtime },
	{ "volumes", read_volumes },
	{ "privileged", read_privileged },
	{ "grant_unasked", read_grant_unasked },
	{ "allow_integrated", read_allow_integrated },
	{ "unenforced", read_unenforced },
	{ "max_wait", read_max_wait },
	{ "audit", read_audit },
	{ NULL, NULL },
};

bool
settings_parse(const char *text, size_t len, struct settings *s, struct faults *f)
{
	config_t cfg;

	if (!settings_default(s)) {
		fault_add(f, 0, false, "out of memory");
		return false;
	}
	if (conf_parse(&cfg, text, len, f))
		conf_group(config_root_setting(&cfg), keys, s, f);
	config_destroy(&cfg);
	return f->errors == 0;
}

void
settings_free(struct settings *s)
{
	free(s->runtime);
	strlist_free(&s->volumes);
	*s = (struct settings){ 0 };
}

char *
settings_salvage_runtime(const char *text)
{
	const char *line, *p, *end;
	struct why why;
	char *path;

	for (line = text; line != NULL; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		p = line + strspn(line, " \t");
		if (strncmp(p, "runtime", 7) != 0)
			continue;
		p += 7 + strspn(p + 7, " \t");
		if (*p != '=' && *p != ':')
			continue;
		p += 1 + strspn(p + 1, " \t");
		if (*p++ != '"' || (end = strpbrk(p, "\"\\\n")) == NULL || *end != '"')
			continue;
		if ((path = strndup(p, (size_t)(end - p))) == NULL || path_check(path, &why) == 0)
			return path;
		free(path);
	}
	return NULL;
}
