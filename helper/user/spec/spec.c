/*
 * See spec.h. A pull request may have written any of this text. Must believe no part of it, only read what
 * the container asks for.
 */
#include "spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "exactkeys.h"
#include "speccapability.h"
#include "specpart.h"

static int
read_strings(const struct doc *d, uint32_t list, const char *where, struct strlist *out, struct why *why)
{
	uint32_t n;

	for (n = doc_first(d, list); n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *s = doc_string(d, n);

		if (s == NULL)
			return spec_refuse(why, "%s[%zu] is not a string (without a NUL)", where, out->n);
		if (!strlist_add(out, s, SIZE_MAX))
			return refuse_nomem(why);
	}
	return 0;
}

/* Some options make a bind mount, whatever the type is (mountToRootfs() in runc's rootfs_linux.go). */
static bool
is_bind(const struct spec_mount *m)
{
	return strlist_has(&m->options, "bind") || strlist_has(&m->options, "rbind") ||
	    (m->type != NULL && strcmp(m->type, "bind") == 0);
}

static int
read_spec_mounts(struct spec *s, struct why *why)
{
	const struct doc *d = &s->doc;
	struct spec_mount *m;
	uint32_t n, options;
	char where[64];

	if (!doc_is(d, s->mounts, DOC_ARRAY))
		return 0;
	if ((s->mount = calloc(d->node[s->mounts].count + 1, sizeof(*m))) == NULL)
		return refuse_nomem(why);
	for (n = doc_first(d, s->mounts); n != DOC_NONE; n = doc_next(d, n)) {
		snprintf(where, sizeof(where), "mounts[%zu]", s->mount_count);
		m = &s->mount[s->mount_count++];
		m->node = n;
		if (!doc_is(d, n, DOC_OBJECT))
			return spec_refuse(why, "%s is not an object", where);
		if (exact_keys(d, n, "config.json", why) == -1 || spec_string(d, n, "destination", where, &m->target, why) == -1 ||
		    spec_string(d, n, "source", where, &m->source, why) == -1 ||
		    spec_string(d, n, "type", where, &m->type, why) == -1 ||
		    spec_part(d, n, "options", DOC_ARRAY, where, &options, why) == -1 ||
		    read_strings(d, options, where, &m->options, why) == -1)
			return -1;
		if (m->target == NULL)
			return spec_refuse(why, "%s has no destination", where);
		m->bind = is_bind(m);
	}
	return 0;
}

/* Gets a device number; -1 if it is absent. */
static int
get_device_number(const struct doc *d, uint32_t obj, const char *key, const char *where, int64_t *out, struct why *why)
{
	uint32_t n = doc_get(d, obj, key);

	*out = -1;
	if (n == DOC_NONE || doc_is(d, n, DOC_NULL))
		return 0;
	/* UINT32_MAX means every number in cgroup v1, and some runtimes cut larger numbers to 32 bits */
	if (doc_i64(d, n, out) && *out >= -1 && *out < UINT32_MAX)
		return 0;
	return spec_refuse(why, "%s.%s is not a device number", where, key);
}

static int
read_spec_devices(struct spec *s, struct why *why)
{
	const struct doc *d = &s->doc;
	struct spec_device *v;
	char where[64];
	uint32_t n;

	if (!doc_is(d, s->devices, DOC_ARRAY))
		return 0;
	if ((s->device = calloc(d->node[s->devices].count + 1, sizeof(*v))) == NULL)
		return refuse_nomem(why);
	for (n = doc_first(d, s->devices); n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *type = NULL;

		snprintf(where, sizeof(where), "linux.devices[%zu]", s->device_count);
		v = &s->device[s->device_count++];
		v->node = n;
		if (!doc_is(d, n, DOC_OBJECT))
			return spec_refuse(why, "%s is not an object", where);
		if (exact_keys(d, n, "config.json", why) == -1 || spec_string(d, n, "path", where, &v->path, why) == -1 ||
		    spec_string(d, n, "type", where, &type, why) == -1 ||
		    get_device_number(d, n, "major", where, &v->major, why) == -1)
			return -1;
		if (v->path == NULL)
			return spec_refuse(why, "%s has no path", where);
		v->type = type != NULL ? type[0] : 'c';
	}
	return 0;
}

static int
read_rule(const struct doc *d, uint32_t n, const char *where, struct devrule *r, struct why *why)
{
	autofree char *type = NULL, *access = NULL;
	uint32_t allow = doc_get(d, n, "allow");
	const char *c;
	size_t o = 0;

	if (!doc_is(d, n, DOC_OBJECT))
		return spec_refuse(why, "%s is not an object", where);
	if (allow != DOC_NONE && !doc_is(d, allow, DOC_TRUE) && !doc_is(d, allow, DOC_FALSE))
		return spec_refuse(why, "%s.allow is neither true nor false", where);
	r->allow = doc_is(d, allow, DOC_TRUE);
	if (exact_keys(d, n, "config.json", why) == -1 || spec_string(d, n, "type", where, &type, why) == -1 ||
	    spec_string(d, n, "access", where, &access, why) == -1 ||
	    get_device_number(d, n, "major", where, &r->major, why) == -1 ||
	    get_device_number(d, n, "minor", where, &r->minor, why) == -1)
		return -1;
	r->type = type == NULL || *type == '\0' ? 'a' : type[0];
	/* 'u' is an unbuffered character device (config-linux.md) */
	if (r->type == 'u')
		r->type = 'c';
	if (strchr("abc", r->type) == NULL)
		return spec_refuse(why, "%s.type \"%.10s\" is unknown", where, type);
	for (c = "rwm"; *c != '\0'; c++)
		if (access == NULL || *access == '\0' || strchr(access, *c) != NULL)
			r->access[o++] = *c;
	/* the kernel and runc would apply the rule to every device, crun to some */
	if (r->type == 'a' && (r->major != -1 || r->minor != -1 || strcmp(r->access, "rwm") != 0))
		return spec_refuse(why, "%s is of type \"a\", but does not cover every device: runtimes disagree on what "
		    "that means: name a type", where);
	return 0;
}

static int
read_rules(struct spec *s, struct why *why)
{
	const struct doc *d = &s->doc;
	char where[64];
	uint32_t n;

	if (!doc_is(d, s->rules, DOC_ARRAY))
		return 0;
	if ((s->rule = calloc(d->node[s->rules].count + 1, sizeof(*s->rule))) == NULL)
		return refuse_nomem(why);
	for (n = doc_first(d, s->rules); n != DOC_NONE; n = doc_next(d, n)) {
		snprintf(where, sizeof(where), "linux.resources.devices[%zu]", s->rule_count);
		if (read_rule(d, n, where, &s->rule[s->rule_count++], why) == -1)
			return -1;
	}
	return 0;
}

/*
 * crun takes «cap_sys_admin» and «21» for CAP_SYS_ADMIN. With one spelling allowed, a search can't miss a
 * capability.
 */
static int
check_capabilities(const struct spec *s, struct why *why)
{
	const struct doc *d = &s->doc;
	uint32_t caps, list, n;
	char where[64];
	size_t i;

	if (spec_part(d, s->process, "capabilities", DOC_OBJECT, "process.capabilities", &caps, why) == -1)
		return -1;
	for (i = 0; capability_sets[i] != NULL; i++) {
		snprintf(where, sizeof(where), "process.capabilities.%s", capability_sets[i]);
		if (spec_part(d, caps, capability_sets[i], DOC_ARRAY, where, &list, why) == -1)
			return -1;
		for (n = doc_first(d, list); n != DOC_NONE; n = doc_next(d, n)) {
			autofree char *name = doc_string(d, n);

			if (name == NULL)
				return spec_refuse(why, "%s has an entry that is not a string", where);
			if (!text_starts(name, "CAP_") || name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] != '\0')
				return spec_refuse(why, "the capability \"%.60s\" is not spelt like CAP_KILL", name);
		}
	}
	return 0;
}

static int
check_namespaces(struct spec *s, struct why *why)
{
	uint32_t list = doc_get(&s->doc, s->linux, "namespaces"), n;

	if (check_capabilities(s, why) == -1)
		return -1;
	for (n = doc_first(&s->doc, list); n != DOC_NONE; n = doc_next(&s->doc, n)) {
		if (exact_keys(&s->doc, n, "config.json", why) == -1)
			return -1;
		if (doc_equals(&s->doc, doc_get(&s->doc, n, "type"), "user"))
			s->user_namespace = true;
	}
	return 0;
}

static int
read_oci_version(struct spec *s, uint32_t root, struct why *why)
{
	autofree char *version = NULL;
	char *dot;

	if (spec_string(&s->doc, root, "ociVersion", "ociVersion", &version, why) == -1)
		return -1;
	if (version != NULL && (dot = strchr(version, '.')) != NULL) {
		*dot = '\0';
		(void)text_u32(version, 0, 1000, &s->major);
	}
	return 0;
}

/* Gets a label. Runtimes take an empty label for none. */
static int
get_label(const struct doc *d, uint32_t obj, const char *key, const char *where, char **out, struct why *why)
{
	if (spec_string(d, obj, key, where, out, why) == -1)
		return -1;
	if (*out != NULL && **out == '\0') {
		free(*out);
		*out = NULL;
	}
	return 0;
}

/* The runtime itself complains of wrong arguments. */
static int
read_first_arg(struct spec *s, struct why *why)
{
	const struct doc *d = &s->doc;
	uint32_t n = doc_first(d, doc_get(d, s->process, "args"));

	if (doc_is(d, n, DOC_STRING) && (s->first_arg = doc_string(d, n)) == NULL)
		return refuse_nomem(why);
	return 0;
}

static int
find_parts(struct spec *s, struct why *why)
{
	const struct doc *d = &s->doc;
	uint32_t root = 0, rootfs;

	if (!doc_is(d, root, DOC_OBJECT))
		return spec_refuse(why, "it is not an object");
	if (exact_keys(d, root, "config.json", why) == -1 || read_oci_version(s, root, why) == -1 ||
	    spec_part(d, root, "process", DOC_OBJECT, "process", &s->process, why) == -1 ||
	    spec_part(d, root, "linux", DOC_OBJECT, "linux", &s->linux, why) == -1 ||
	    spec_part(d, root, "root", DOC_OBJECT, "root", &rootfs, why) == -1 ||
	    spec_part(d, root, "mounts", DOC_ARRAY, "mounts", &s->mounts, why) == -1 ||
	    spec_part(d, root, "annotations", DOC_OBJECT, "annotations", &s->annotations, why) == -1 ||
	    spec_part(d, root, "hooks", DOC_OBJECT, "hooks", &s->hooks, why) == -1)
		return -1;
	if (!doc_is(d, s->process, DOC_OBJECT) || !doc_is(d, s->linux, DOC_OBJECT))
		return spec_refuse(why, "it has no \"%s\"", doc_is(d, s->process, DOC_OBJECT) ? "linux" : "process");
	if (spec_string(d, rootfs, "path", "root.path", &s->root_path, why) == -1 ||
	    spec_string(d, s->process, "cwd", "process.cwd", &s->cwd, why) == -1 ||
	    spec_part(d, s->process, "env", DOC_ARRAY, "process.env", &s->env, why) == -1 ||
	    spec_part(d, s->process, "user", DOC_OBJECT, "process.user", &s->user, why) == -1 ||
	    spec_part(d, s->user, "additionalGids", DOC_ARRAY, "process.user.additionalGids", &s->gids, why) == -1 ||
	    spec_part(d, s->linux, "devices", DOC_ARRAY, "linux.devices", &s->devices, why) == -1 ||
	    spec_part(d, s->linux, "resources", DOC_OBJECT, "linux.resources", &s->resources, why) == -1 ||
	    spec_part(d, s->resources, "devices", DOC_ARRAY, "linux.resources.devices", &s->rules, why) == -1 ||
	    spec_part(d, s->linux, "maskedPaths", DOC_ARRAY, "linux.maskedPaths", &s->masked, why) == -1 ||
	    spec_string(d, s->linux, "cgroupsPath", "linux.cgroupsPath", &s->cgroups_path, why) == -1 ||
	    get_label(d, s->process, "selinuxLabel", "process.selinuxLabel", &s->label, why) == -1 ||
	    get_label(d, s->linux, "mountLabel", "linux.mountLabel", &s->mount_label, why) == -1)
		return -1;
	if (s->cgroups_path == NULL && (s->cgroups_path = strdup("")) == NULL)
		return refuse_nomem(why);
	return 0;
}

int
spec_parse(struct spec *s, const char *text, size_t len, struct why *why)
{
	*s = (struct spec){ 0 };
	if (doc_parse(&s->doc, text, len, why) == -1)
		return refuse_within(why, "config.json");
	if (find_parts(s, why) == -1 || read_strings(&s->doc, s->env, "process.env", &s->env_text, why) == -1 ||
	    read_first_arg(s, why) == -1 || read_spec_mounts(s, why) == -1 ||
	    read_spec_devices(s, why) == -1 || read_rules(s, why) == -1)
		return -1;
	return check_namespaces(s, why);
}

void
spec_free(struct spec *s)
{
	size_t i;

	for (i = 0; i < s->mount_count; i++) {
		free(s->mount[i].target);
		free(s->mount[i].source);
		free(s->mount[i].type);
		strlist_free(&s->mount[i].options);
	}
	for (i = 0; i < s->device_count; i++)
		free(s->device[i].path);
	free(s->mount);
	free(s->device);
	free(s->rule);
	free(s->root_path);
	free(s->first_arg);
	free(s->cwd);
	free(s->cgroups_path);
	free(s->label);
	free(s->mount_label);
	strlist_free(&s->env_text);
	strlist_free(&s->tokens);
	doc_free(&s->doc);
	*s = (struct spec){ 0 };
}

bool
spec_host_path(const struct spec *s, const char *path, char out[PATH_MAX])
{
	bool from_bundle = path[0] != '/' && s->bundle != NULL;

	return snprintf(out, PATH_MAX, "%s%s%s", from_bundle ? s->bundle : "", from_bundle ? "/" : "", path) < PATH_MAX;
}

bool
spec_mount_is_new(const struct spec_mount *m)
{
	static const char *const types[] = { "proc", "tmpfs", "devpts", "mqueue", "sysfs", "cgroup", "cgroup2", NULL };

	return !m->bind && m->type != NULL && text_among(m->type, types);
}

const struct spec_mount *
spec_bind_at(const struct spec *s, const char *target)
{
	const struct spec_mount *found = NULL;
	size_t i;

	for (i = 0; i < s->mount_count; i++) {
		if (strcmp(s->mount[i].target, target) != 0)
			continue;
		if (found != NULL || !s->mount[i].bind || s->mount[i].source == NULL)
			return NULL;
		found = &s->mount[i];
	}
	return found;
}

bool
spec_masks(const struct spec *s, const char *path)
{
	uint32_t n;

	for (n = doc_first(&s->doc, s->masked); n != DOC_NONE; n = doc_next(&s->doc, n))
		if (doc_equals(&s->doc, n, path))
			return true;
	return false;
}

const struct spec_mount *
spec_mount_at(const struct spec *s, const char *target)
{
	size_t i;

	for (i = s->mount_count; i > 0; i--)
		if (strcmp(s->mount[i - 1].target, target) == 0)
			return &s->mount[i - 1];
	return NULL;
}

const char *
env_value(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=' ? entry + n + 1 : NULL;
}
