/*
 * See cdispec.h. Reads a spec from its tree. Reads the whole of it even if there are faults, so that all are
 * reported at once. A value with a fault is left out, and the caller gets no spec that has one.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/text.h"
#include "../../base/textnear.h"
#include "cdijson.h"
#include "cdiread.h"
#include "cdispec.h"
#include "cdiyaml.h"

enum version { V030, V040, V050, V060, V070, V080, V100, V110, CDI_VERSIONS };
static const char *const versions[CDI_VERSIONS + 1] = { "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0",
	"1.1.0", NULL };

/* Reports a feature that is newer than the cdiVersion of the spec. */
static void
needs(struct cdi_reading *r, uint32_t n, enum version v, const char *what)
{
	if (r->version < v)
		cdi_invalid(r, n, "%s came with CDI %s, and cdiVersion says %s", what, versions[v], versions[r->version]);
}

static void
check_env(struct cdi_reading *r, uint32_t n, const char *s)
{
	if (strchr(s, '=') == NULL || *s == '=')
		cdi_invalid(r, n, "\"%.60s\" is not NAME=value", s);
	else
		cdi_check_env(r, n, s);
}

static void
read_cdi_env(struct cdi_reading *r, uint32_t n, void *out)
{
	cdi_read_list(r, n, out, check_env);
}

static void
read_node_type(struct cdi_reading *r, uint32_t n, void *out)
{
	const char *s = r->t->node[n].text;
	char *type = out;

	if (!cdi_is(r, n, CDIT_STRING) || *s == '\0')
		return;
	if (s[1] == '\0' && strchr("bcup", *s) != NULL)
		*type = *s;
	else
		cdi_invalid(r, n, "\"%.40s\" is no type of device: b, c, u or p", s);
}

static void
read_permissions(struct cdi_reading *r, uint32_t n, void *out)
{
	char **s = out;

	if (cdi_copy_string(r, n, s) && strcmp(*s, "none") != 0 && (*s)[strspn(*s, "rwm")] != '\0')
		cdi_invalid(r, n, "\"%.40s\" is neither made of r, w and m nor \"none\"", *s);
}

static void
read_host_path(struct cdi_reading *r, uint32_t n, void *out)
{
	char **s = out;

	if (cdi_copy_string(r, n, s) && **s != '\0')
		needs(r, n, V050, "hostPath");
}

static void
read_node(struct cdi_reading *r, uint32_t n, void *out)
{
	static const struct cdi_field fields[] = {
		{ "path", cdi_read_full_string, offsetof(struct cdi_devnode, path), true },
		{ "hostPath", read_host_path, offsetof(struct cdi_devnode, host_path), false },
		{ "type", read_node_type, offsetof(struct cdi_devnode, type), false },
		{ "major", cdi_read_i64, offsetof(struct cdi_devnode, major), false },
		{ "minor", cdi_read_i64, offsetof(struct cdi_devnode, minor), false },
		{ "fileMode", cdi_read_u32, offsetof(struct cdi_devnode, mode), false },
		{ "permissions", read_permissions, offsetof(struct cdi_devnode, permissions), false },
		{ "uid", cdi_read_u32, offsetof(struct cdi_devnode, uid), false },
		{ "gid", cdi_read_u32, offsetof(struct cdi_devnode, gid), false },
		{ NULL, NULL, 0, false },
	};
	struct cdi_devnode *v = out;

	v->line = r->t->node[n].line;
	v->column = r->t->node[n].column;
	if (cdi_read_fields(r, n, fields, v))
		cdi_check_devnode(r, n, v);
}

static void
read_mount_type(struct cdi_reading *r, uint32_t n, void *out)
{
	char **s = out;

	if (cdi_copy_string(r, n, s) && **s != '\0')
		needs(r, n, V040, "type of a mount");
}

static void
check_option(struct cdi_reading *r, uint32_t n, const char *s)
{
	cdi_check_option(r, n, s);
}

static void
read_options(struct cdi_reading *r, uint32_t n, void *out)
{
	cdi_read_list(r, n, out, check_option);
}

static void
read_mount(struct cdi_reading *r, uint32_t n, void *out)
{
	static const struct cdi_field fields[] = {
		{ "hostPath", cdi_read_full_string, offsetof(struct cdi_mount, host_path), true },
		{ "containerPath", cdi_read_full_string, offsetof(struct cdi_mount, container_path), true },
		{ "options", read_options, offsetof(struct cdi_mount, options), false },
		{ "type", read_mount_type, offsetof(struct cdi_mount, type), false },
		{ NULL, NULL, 0, false },
	};
	struct cdi_mount *v = out;

	v->line = r->t->node[n].line;
	v->column = r->t->node[n].column;
	if (cdi_read_fields(r, n, fields, v))
		cdi_check_mount(r, n, v);
}

static void
read_hook_name(struct cdi_reading *r, uint32_t n, void *out)
{
	const char *s = r->t->node[n].text, *near;
	enum cdi_hook_name *when = out;

	if (!cdi_is(r, n, CDIT_STRING))
		return;
	for (*when = 0; *when < CDI_HOOKS; (*when)++)
		if (strcmp(s, cdi_hook_names[*when]) == 0)
			return;
	*when = 0;
	if ((near = text_nearest(s, cdi_hook_names)) != NULL)
		cdi_invalid(r, n, "there is no hook \"%.40s\"; did you mean \"%s\"?", s, near);
	else
		cdi_invalid(r, n, "there is no hook \"%.40s\"", s);
}

static void
read_hook(struct cdi_reading *r, uint32_t n, void *out)
{
	static const struct cdi_field fields[] = {
		{ "hookName", read_hook_name, offsetof(struct cdi_hook, when), true },
		{ "path", cdi_read_full_string, offsetof(struct cdi_hook, path), true },
		{ "args", cdi_read_strings, offsetof(struct cdi_hook, args), false },
		{ "env", read_cdi_env, offsetof(struct cdi_hook, env), false },
		{ "timeout", cdi_read_i64, offsetof(struct cdi_hook, timeout), false },
		{ NULL, NULL, 0, false },
	};
	struct cdi_hook *v = out;

	v->line = r->t->node[n].line;
	v->column = r->t->node[n].column;
	r->in_hook = true;
	if (cdi_read_fields(r, n, fields, v))
		cdi_check_hook(r, n, v);
	r->in_hook = false;
}

static void
read_netdev(struct cdi_reading *r, uint32_t n, void *out)
{
	static const struct cdi_field fields[] = {
		{ "hostInterfaceName", cdi_read_full_string, offsetof(struct cdi_netdev, host), true },
		{ "name", cdi_read_full_string, offsetof(struct cdi_netdev, name), true },
		{ NULL, NULL, 0, false },
	};

	if (cdi_read_fields(r, n, fields, out))
		cdi_check_netdev(r, n, out);
}

/* The value becomes the name of a directory in resctrl, so it must be a file name; "/" is the root class. */
static void
read_clos_id(struct cdi_reading *r, uint32_t n, void *out)
{
	char **s = out;

	if (!cdi_copy_string(r, n, s) || strcmp(*s, "/") == 0)
		return;
	if (strlen(*s) >= 4096 || strcmp(*s, ".") == 0 || strcmp(*s, "..") == 0 || strpbrk(*s, "/\n") != NULL)
		cdi_invalid(r, n, "\"%.40s\" is no name of a class of service", *s);
}

static void
read_schemata(struct cdi_reading *r, uint32_t n, void *out)
{
	needs(r, n, V110, "schemata");
	cdi_read_strings(r, n, out);
}

static void
read_monitoring(struct cdi_reading *r, uint32_t n, void *out)
{
	bool *on = out;

	if (cdi_is(r, n, CDIT_BOOL) && (*on = strcmp(r->t->node[n].text, "true") == 0))
		needs(r, n, V110, "enableMonitoring");
}

static void
read_rdt(struct cdi_reading *r, uint32_t n, void *out)
{
	static const struct cdi_field fields[] = {
		{ "closID", read_clos_id, offsetof(struct cdi_rdt, clos_id), false },
		{ "l3CacheSchema", cdi_read_string, offsetof(struct cdi_rdt, l3_schema), false },
		{ "memBwSchema", cdi_read_string, offsetof(struct cdi_rdt, mb_schema), false },
		{ "schemata", read_schemata, offsetof(struct cdi_rdt, schemata), false },
		{ "enableMonitoring", read_monitoring, offsetof(struct cdi_rdt, monitoring), false },
		{ NULL, NULL, 0, false },
	};
	struct cdi_rdt **rdt = out;

	needs(r, n, V070, "intelRdt");
	if ((*rdt = calloc(1, sizeof(**rdt))) == NULL)
		r->f->starved = true;
	else if (cdi_read_fields(r, n, fields, *rdt))
		cdi_check_rdt(r, n, *rdt);
}

/* Readers for the lists of containerEdits. «out» points to the whole edits. */
static void
read_cdi_nodes(struct cdi_reading *r, uint32_t n, void *out)
{
	struct cdi_edits *e = out;

	e->node = cdi_read_objects(r, n, sizeof(*e->node), &e->nodes, read_node);
}

static void
read_cdi_mounts(struct cdi_reading *r, uint32_t n, void *out)
{
	struct cdi_edits *e = out;

	e->mount = cdi_read_objects(r, n, sizeof(*e->mount), &e->mounts, read_mount);
}

static void
read_hooks(struct cdi_reading *r, uint32_t n, void *out)
{
	struct cdi_edits *e = out;

	e->hook = cdi_read_objects(r, n, sizeof(*e->hook), &e->hooks, read_hook);
}

static void
check_netdevs(struct cdi_reading *r, uint32_t n, const struct cdi_edits *e)
{
	const struct cdi_netdev *a = e->netdev, *b;
	size_t i, k;

	if (e->netdevs > 256) {
		cdi_invalid(r, n, "more than 256 network devices");
		return;
	}
	for (i = 0; i < e->netdevs; i++)
		for (k = 0; k < i; k++) {
			b = &e->netdev[k];
			if (a[i].host != NULL && b->host != NULL && strcmp(a[i].host, b->host) == 0)
				cdi_invalid(r, n, "hostInterfaceName \"%.40s\" appears twice", b->host);
			if (a[i].name != NULL && b->name != NULL && strcmp(a[i].name, b->name) == 0)
				cdi_invalid(r, n, "name \"%.40s\" appears twice", b->name);
		}
}

static void
read_netdevs(struct cdi_reading *r, uint32_t n, void *out)
{
	struct cdi_edits *e = out;

	e->netdev = cdi_read_objects(r, n, sizeof(*e->netdev), &e->netdevs, read_netdev);
	if (e->netdevs > 0) {
		needs(r, n, V110, "netDevices");
		check_netdevs(r, n, e);
	}
}

static void
read_gid(struct cdi_reading *r, uint32_t n, void *out)
{
	int64_t v;

	if (!cdi_read_i64_in(r, n, 0, UINT32_MAX, &v))
		return;
	*(uint32_t *)out = (uint32_t)v;
	cdi_check_gid(r, n, (uint32_t)v);
}

static void
read_gids(struct cdi_reading *r, uint32_t n, void *out)
{
	struct cdi_edits *e = out;

	e->gid = cdi_read_objects(r, n, sizeof(*e->gid), &e->gids, read_gid);
	e->gids_line = r->t->node[n].line;
	e->gids_column = r->t->node[n].column;
	if (e->gids > 0)
		needs(r, n, V070, "additionalGids");
}

static void
read_edits(struct cdi_reading *r, uint32_t n, void *out)
{
	static const struct cdi_field fields[] = {
		{ "env", read_cdi_env, offsetof(struct cdi_edits, env), false },
		{ "deviceNodes", read_cdi_nodes, 0, false },
		{ "netDevices", read_netdevs, 0, false },
		{ "mounts", read_cdi_mounts, 0, false },
		{ "hooks", read_hooks, 0, false },
		{ "intelRdt", read_rdt, offsetof(struct cdi_edits, rdt), false },
		{ "additionalGids", read_gids, 0, false },
		{ NULL, NULL, 0, false },
	};

	cdi_read_fields(r, n, fields, out);
}

/* A device without edits would be granted without any effect, so it is a fault. */
static void
read_device_edits(struct cdi_reading *r, uint32_t n, void *out)
{
	const struct cdi_edits *e = out;
	size_t faults = r->f->invalid;

	read_edits(r, n, out);
	if (r->f->invalid == faults && e->env.n == 0 && e->nodes == 0 && e->mounts == 0 && e->hooks == 0 && e->netdevs == 0 &&
	    e->rdt == NULL && e->gids == 0)
		cdi_invalid(r, n, "has nothing in it");
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A name that appears more than once among n, or NULL. Sorts the pointers. */
static const char *
repeated(const char **names, size_t n)
{
	size_t i;

	if (n > 1)
		qsort(names, n, sizeof(*names), compare_names);
	for (i = 1; i < n; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			return names[i];
	return NULL;
}

/* The JSON parser has refused repeated keys already, the YAML parser has not. */
static void
check_annotation_keys(struct cdi_reading *r, uint32_t n, const struct cdi_annotations *a)
{
	const char **names, *twice;
	size_t i;

	if ((names = calloc(a->key.n + 1, sizeof(*names))) == NULL) {
		r->f->starved = true;
		return;
	}
	for (i = 0; i < a->key.n; i++)
		names[i] = a->key.v[i];
	if ((twice = repeated(names, a->key.n)) != NULL)
		cdi_invalid(r, n, "the key \"%.60s\" appears twice in one object", twice);
	free(names);
}

static void
read_annotations(struct cdi_reading *r, uint32_t n, void *out)
{
	const struct cdit_node *v = r->t->node;
	struct cdi_annotations *a = out;
	size_t before;
	uint32_t k;

	if (!cdi_is(r, n, CDIT_OBJECT))
		return;
	if (v[n].count > 0)
		needs(r, n, V060, "annotations");
	for (k = v[n].child; k != CDIT_NONE; k = v[k].next) {
		before = cdi_enter(r, ".\"%.320s\"", v[k].text);
		if (cdi_is(r, k, CDIT_STRING) && cdi_is(r, v[k].child, CDIT_STRING) &&
		    (!strlist_add(&a->key, v[k].text, SIZE_MAX) || !strlist_add(&a->value, v[v[k].child].text, SIZE_MAX)))
			r->f->starved = true;
		cdi_leave(r, before);
	}
	if (a->key.n != a->value.n)
		return;		/* memory was short */
	check_annotation_keys(r, n, a);
	cdi_check_annotations(r, n, a);
}

static void
read_device_name(struct cdi_reading *r, uint32_t n, void *out)
{
	char **s = out;

	if (!cdi_copy_string(r, n, s))
		return;
	if (!cdi_device_name_ok(*s))
		cdi_invalid(r, n, "\"%.60s\" is no name of a device: letters, digits and inside of it _ . : -", *s);
	else if (**s >= '0' && **s <= '9')
		needs(r, n, V050, "a name that begins with a digit");
}

static void
read_cdi_device(struct cdi_reading *r, uint32_t n, void *out)
{
	static const struct cdi_field fields[] = {
		{ "name", read_device_name, offsetof(struct cdi_device, name), true },
		{ "annotations", read_annotations, offsetof(struct cdi_device, annotations), false },
		{ "containerEdits", read_device_edits, offsetof(struct cdi_device, edits), true },
		{ NULL, NULL, 0, false },
	};

	cdi_read_fields(r, n, fields, out);
}

static void
read_cdi_devices(struct cdi_reading *r, uint32_t n, void *out)
{
	struct cdi_spec *s = out;
	const char **names;
	const char *twice;
	size_t i, k = 0;

	s->device = cdi_read_objects(r, n, sizeof(*s->device), &s->devices, read_cdi_device);
	if (s->devices == 0) {
		s->empty = r->t->node[n].kind == CDIT_ARRAY && r->t->node[n].count == 0;
		if (s->empty)
			cdi_invalid(r, n, "there are no devices");
		return;
	}
	if ((names = calloc(s->devices, sizeof(*names))) == NULL) {
		r->f->starved = true;
		return;
	}
	for (i = 0; i < s->devices; i++)
		if (s->device[i].name != NULL)
			names[k++] = s->device[i].name;
	if ((twice = repeated(names, k)) != NULL)
		cdi_invalid(r, n, "two devices have the name \"%.60s\"", twice);
	free(names);
}

static void
read_kind(struct cdi_reading *r, uint32_t n, void *out)
{
	char **kind = out;

	if (!cdi_copy_string(r, n, kind))
		return;
	if (!cdi_kind_ok(*kind)) {
		cdi_invalid(r, n, "\"%.80s\" is not vendor/class: each a letter, then letters, digits and inside of it _ . -", *kind);
		return;
	}
	if (strchr(*kind + strcspn(*kind, "/"), '.') != NULL)
		needs(r, n, V060, "a \".\" in the class");
	cdi_check_kind(r, n, *kind);
}

/* find_version() has looked for the version already. */
static void
read_cdi_version(struct cdi_reading *r, uint32_t n, void *out)
{
	char **s = out;

	if (cdi_copy_string(r, n, s) && r->version == CDI_VERSIONS)
		cdi_invalid(r, n, "\"%.40s\" is no version of CDI that is known here: 0.3.0 to 1.1.0", *s);
}

static void
find_version(struct cdi_reading *r)
{
	uint32_t n = cdit_get(r->t, 0, "cdiVersion");
	const char *s;

	r->version = CDI_VERSIONS;
	if (n == CDIT_NONE || r->t->node[n].kind != CDIT_STRING)
		return;
	s = r->t->node[n].text;
	for (r->version = 0; r->version < CDI_VERSIONS; r->version++)
		if (strcmp(s + (*s == 'v'), versions[r->version]) == 0)
			return;
}

/* The caller calls cdit_free() in any case. */
static bool
parse_tree(struct cdit *t, enum cdi_format format, const char *text, size_t len, struct cdi_faults *f)
{
	*t = (struct cdit){ 0 };
	if (len > CDI_TEXT_MAX) {
		cdi_fault(f, CDI_INVALID, 0, 0, "", "is larger than %d bytes", CDI_TEXT_MAX);
		return false;
	}
	if (!text_is_utf8(text, len)) {
		cdi_fault(f, CDI_INVALID, 0, 0, "", "is not UTF-8 text");
		return false;
	}
	return format == CDI_JSON ? cdit_json(t, text, len, f) : cdit_yaml(t, text, len, f);
}

/* Takes the kind of a text that can't be read to its end, if it comes before the fault. */
static void
take_kind(const struct cdit *t, struct cdi_spec *s, struct cdi_faults *f)
{
	const uint32_t n = t->nodes > 0 ? cdit_get(t, 0, "kind") : CDIT_NONE;

	if (n != CDIT_NONE && t->node[n].kind == CDIT_STRING && cdi_kind_ok(t->node[n].text) &&
	    (s->kind = strdup(t->node[n].text)) == NULL)
		f->starved = true;
}

bool
cdi_parse(struct cdi_spec *s, enum cdi_format format, const char *text, size_t len, struct cdi_faults *f)
{
	static const struct cdi_field fields[] = {
		{ "cdiVersion", read_cdi_version, offsetof(struct cdi_spec, version), true },
		{ "kind", read_kind, offsetof(struct cdi_spec, kind), true },
		{ "annotations", read_annotations, offsetof(struct cdi_spec, annotations), false },
		{ "devices", read_cdi_devices, 0, true },
		{ "containerEdits", read_edits, offsetof(struct cdi_spec, edits), false },
		{ NULL, NULL, 0, false },
	};
	autocdit struct cdit t = { 0 };
	struct cdi_reading r = { .t = &t, .f = f };

	*s = (struct cdi_spec){ 0 };
	if (!parse_tree(&t, format, text, len, f) || f->starved) {
		take_kind(&t, s, f);
		return false;
	}
	find_version(&r);
	cdi_read_fields(&r, 0, fields, s);
	return f->invalid == 0 && !f->starved;
}
