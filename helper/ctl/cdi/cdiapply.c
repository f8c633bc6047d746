/*
 * See cdiapply.h. A list that changes is built anew: elements that stay are copied byte for byte. A member of
 * a wrong type is refused by name.
 */
#include "cdiapply.h"

#include <inttypes.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../json/docbuild.h"

struct applying {
	struct doc d;
	struct doc_edits edits;
	const struct cdi_merged *m;
	struct why *why;
};

/* Gets a member: DOC_NONE if it is absent or null. Returns 0, or -1 with *why if it is of another kind. */
static int
member_of_kind(struct applying *a, uint32_t obj, const char *key, enum doc_kind kind, uint32_t *out)
{
	*out = doc_get(&a->d, obj, key);
	if (doc_is(&a->d, *out, DOC_NULL))
		*out = DOC_NONE;
	if (*out != DOC_NONE && !doc_is(&a->d, *out, kind))
		return refuse(a->why, WHY_DATA, "config.json: %s is not %s", key, kind == DOC_OBJECT ? "an object" :
		    kind == DOC_ARRAY ? "a list" : "a string");
	return 0;
}

/* The text of a string; "" if n is no string or contains a NUL. NULL if memory is short. */
static char *
key_text(const struct doc *d, uint32_t n)
{
	char *s = doc_string(d, n);

	if (s == NULL && (!doc_is(d, n, DOC_STRING) || memmem(d->text + d->node[n].start, d->node[n].end - d->node[n].start,
	    "\\u0000", 6) != NULL))
		s = strdup("");
	return s;
}

/*
 * Reads the elements of a list of objects, known by their member «by»; with by NULL, of strings NAME=value,
 * known by NAME.
 */
static int
items_read(struct applying *a, struct items *l, uint32_t list, const char *by, const char *what)
{
	uint32_t n;
	char *key;

	for (n = doc_first(&a->d, list); n != DOC_NONE; n = doc_next(&a->d, n)) {
		uint32_t value = by != NULL ? doc_get(&a->d, n, by) : n;

		if (by != NULL && !doc_is(&a->d, n, DOC_OBJECT))
			return refuse(a->why, WHY_DATA, "config.json: an element of %s is not an object", what);
		if (by == NULL && !doc_is(&a->d, n, DOC_STRING))
			return refuse(a->why, WHY_DATA, "config.json: an element of %s is not a string", what);
		if ((key = key_text(&a->d, value)) == NULL)
			return refuse_nomem(a->why);
		if (by == NULL)
			key[strcspn(key, "=")] = '\0';
		if (!items_add(l, n, NULL, key))
			return refuse_nomem(a->why);
	}
	return 0;
}

static char *
number_text(uint64_t v)
{
	autobuf struct buf b = { 0 };

	buf_printf(&b, "%" PRIu64, v);
	return buf_take(&b);
}

/* process.env: a new variable replaces the last one of its name in place. */
static int
apply_env(struct applying *a, uint32_t process, struct section *s)
{
	autoitems struct items l = { 0 };
	uint32_t env;
	size_t i, k, n = 0;

	for (i = 0; i < a->m->n; i++)
		n += a->m->v[i]->env.n;
	if (n == 0)
		return 0;
	if (member_of_kind(a, process, "env", DOC_ARRAY, &env) == -1 || items_read(a, &l, env, NULL, "process.env") == -1)
		return -1;
	for (i = 0; i < a->m->n; i++)
		for (k = 0; k < a->m->v[i]->env.n; k++) {
			const char *entry = a->m->v[i]->env.v[k];
			autobuf struct buf b = { 0 };

			buf_json(&b, entry);
			if (!items_add(&l, DOC_NONE, buf_take(&b), strndup(entry, strcspn(entry, "="))))
				return refuse_nomem(a->why);
		}
	if (!items_finish(&l, ITEMS_IN_PLACE))
		return refuse_nomem(a->why);
	section_set(s, "env", items_text(&l, &a->d, '['));
	return 0;
}

/* process.user.additionalGids: adds groups except 0 and those that are there. */
static int
apply_gids(struct applying *a, uint32_t user, struct section *s)
{
	autoitems struct items l = { 0 };
	size_t i, k, n = 0;
	uint32_t gids, g;
	int64_t v;

	if (member_of_kind(a, user, "additionalGids", DOC_ARRAY, &gids) == -1)
		return -1;
	for (g = doc_first(&a->d, gids); g != DOC_NONE; g = doc_next(&a->d, g))
		if (!doc_i64(&a->d, g, &v) || v < 0 || v > UINT32_MAX)
			return refuse(a->why, WHY_DATA, "config.json: an element of process.user.additionalGids is no group");
		else if (!items_add(&l, g, NULL, number_text((uint64_t)v)))
			return refuse_nomem(a->why);
	for (i = 0; i < a->m->n; i++)
		for (k = 0; k < a->m->v[i]->gids; k++) {
			if (a->m->v[i]->gid[k] == 0)
				continue;
			if (!items_add(&l, DOC_NONE, number_text(a->m->v[i]->gid[k]), number_text(a->m->v[i]->gid[k])))
				return refuse_nomem(a->why);
			n++;
		}
	if (n == 0)
		return 0;
	if (!items_finish(&l, ITEMS_ONCE))
		return refuse_nomem(a->why);
	section_set(s, "additionalGids", items_text(&l, &a->d, '['));
	return 0;
}

static int
apply_process(struct applying *a)
{
	struct section process, user;
	uint32_t obj, uobj;
	int ret;

	if (member_of_kind(a, 0, "process", DOC_OBJECT, &obj) == -1 || member_of_kind(a, obj, "user", DOC_OBJECT, &uobj) == -1)
		return -1;
	section_begin(&process, &a->d, &a->edits, 0, "process", obj);
	section_begin(&user, &a->d, &a->edits, obj, "user", uobj);
	if (uobj == DOC_NONE) {
		section_set(&user, "uid", strdup("0"));
		section_set(&user, "gid", strdup("0"));
		user.any = false;
	}
	ret = apply_gids(a, uobj, &user) == -1 || apply_env(a, obj, &process) == -1 ? -1 : 0;
	/* the specification requires user and cwd of a process */
	if (obj == DOC_NONE && (process.any || user.any)) {
		section_set(&process, "cwd", strdup("\"\""));
		user.any = true;
	}
	section_put(&user, obj == DOC_NONE ? &process : NULL);
	section_put(&process, NULL);
	return ret;
}

/*
 * The user's or group's id in the container if it is not 0: nodes belong to it if their spec does not say
 * otherwise.
 */
static uint32_t
user_id(const struct applying *a, const char *which)
{
	int64_t v;

	if (!doc_i64(&a->d, doc_get(&a->d, doc_get(&a->d, doc_get(&a->d, 0, "process"), "user"), which), &v) || v < 0 ||
	    v > UINT32_MAX)
		return 0;
	return (uint32_t)v;
}

static char *
node_text(const struct applying *a, const struct cdi_devnode *n)
{
	const uint32_t uid = n->uid.set ? n->uid.v : user_id(a, "uid"), gid = n->gid.set ? n->gid.v : user_id(a, "gid");
	autobuf struct buf b = { 0 };

	put_string(&b, "path", n->path);
	buf_printf(&b, ",\"type\":\"%c\",\"major\":%" PRId64 ",\"minor\":%" PRId64, n->type, n->major.v, n->minor.v);
	if (n->mode.set)
		buf_printf(&b, ",\"fileMode\":%u", n->mode.v);
	if (n->uid.set || uid > 0)
		buf_printf(&b, ",\"uid\":%u", uid);
	if (n->gid.set || gid > 0)
		buf_printf(&b, ",\"gid\":%u", gid);
	return object_text(&b);
}

static char *
rule_text(const struct cdi_devnode *n)
{
	const char *access = n->permissions == NULL || n->permissions[0] == '\0' ? "rwm" : n->permissions;
	autobuf struct buf b = { 0 };

	buf_printf(&b, ",\"allow\":true,\"type\":\"%c\",\"major\":%" PRId64 ",\"minor\":%" PRId64, n->type, n->major.v,
	    n->minor.v);
	put_string(&b, "access", strcmp(access, "none") == 0 ? NULL : access);
	return object_text(&b);
}

/* linux.devices and linux.resources.devices: the last node of a path counts, and every rule is added. */
static int
apply_nodes(struct applying *a, uint32_t obj, struct section *linux)
{
	autoitems struct items nodes = { 0 }, rules = { 0 };
	uint32_t devices, resources, list;
	struct section s;
	size_t i;

	if (a->m->nodes == 0)
		return 0;
	if (member_of_kind(a, obj, "devices", DOC_ARRAY, &devices) == -1 ||
	    member_of_kind(a, obj, "resources", DOC_OBJECT, &resources) == -1 ||
	    member_of_kind(a, resources, "devices", DOC_ARRAY, &list) == -1 ||
	    items_read(a, &nodes, devices, "path", "linux.devices") == -1 ||
	    items_read(a, &rules, list, "type", "linux.resources.devices") == -1)
		return -1;
	for (i = 0; i < a->m->nodes; i++) {
		const struct cdi_devnode *n = &a->m->node[i];

		if (!items_add(&nodes, DOC_NONE, node_text(a, n), strdup(n->path)))
			return refuse_nomem(a->why);
		if ((n->type == 'b' || n->type == 'c') && !items_add(&rules, DOC_NONE, rule_text(n), strdup("")))
			return refuse_nomem(a->why);
	}
	if (!items_finish(&nodes, ITEMS_SHIFT))
		return refuse_nomem(a->why);
	section_set(linux, "devices", items_text(&nodes, &a->d, '['));
	section_begin(&s, &a->d, &a->edits, obj, "resources", resources);
	if (rules.n > 0)
		section_set(&s, "devices", items_text(&rules, &a->d, '['));
	section_put(&s, obj == DOC_NONE ? linux : NULL);
	return 0;
}

/* linux.netDevices, by the host's name: the last entry of a name counts. */
static int
apply_netdevs(struct applying *a, uint32_t obj, struct section *linux)
{
	autoitems struct items l = { 0 };
	size_t i, j, n = 0;
	uint32_t map, k;

	if (member_of_kind(a, obj, "netDevices", DOC_OBJECT, &map) == -1)
		return -1;
	for (k = doc_first(&a->d, map); k != DOC_NONE; k = doc_next(&a->d, k))
		if (!items_add(&l, k, NULL, key_text(&a->d, k)))
			return refuse_nomem(a->why);
	for (i = 0; i < a->m->n; i++)
		for (j = 0; j < a->m->v[i]->netdevs; j++) {
			const struct cdi_netdev *d = &a->m->v[i]->netdev[j];
			autobuf struct buf b = { 0 };

			buf_json(&b, d->host);
			buf_puts(&b, ":{\"name\":");
			buf_json(&b, d->name);
			buf_puts(&b, "}");
			if (!items_add(&l, DOC_NONE, buf_take(&b), strdup(d->host)))
				return refuse_nomem(a->why);
			n++;
		}
	if (n == 0)
		return 0;
	if (!items_finish(&l, ITEMS_REPLACE))
		return refuse_nomem(a->why);
	section_set(linux, "netDevices", items_text(&l, &a->d, '{'));
	return 0;
}

/* linux.intelRdt: the last one counts. */
static void
apply_rdt(struct applying *a, struct section *linux)
{
	const struct cdi_rdt *t = NULL;
	autobuf struct buf b = { 0 };
	size_t i;

	for (i = 0; i < a->m->n; i++)
		if (a->m->v[i]->rdt != NULL)
			t = a->m->v[i]->rdt;
	if (t == NULL)
		return;
	put_string(&b, "closID", t->clos_id);
	put_strings(&b, "schemata", &t->schemata);
	put_string(&b, "l3CacheSchema", t->l3_schema);
	put_string(&b, "memBwSchema", t->mb_schema);
	if (t->monitoring)
		buf_puts(&b, ",\"enableMonitoring\":true");
	section_set(linux, "intelRdt", object_text(&b));
}

static int
apply_linux(struct applying *a)
{
	struct section s;
	uint32_t obj;
	int ret = 0;

	if (member_of_kind(a, 0, "linux", DOC_OBJECT, &obj) == -1)
		return -1;
	section_begin(&s, &a->d, &a->edits, 0, "linux", obj);
	if (apply_nodes(a, obj, &s) == -1 || apply_netdevs(a, obj, &s) == -1)
		ret = -1;
	else
		apply_rdt(a, &s);
	section_put(&s, NULL);
	return ret;
}

/* The depth of a path as the library computes it: slashes after Go's filepath.Clean(). */
static unsigned
mount_depth(const char *path)
{
	const bool absolute = *path == '/';
	unsigned depth = 0, ups = 0;
	size_t n;

	for (; *path != '\0'; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.'))
			continue;
		if (n != 2 || path[0] != '.' || path[1] != '.')
			depth++;
		else if (depth > 0)
			depth--;
		else if (!absolute)
			ups++;
	}
	depth += ups;
	return absolute ? (depth > 0 ? depth : 1) : depth > 0 ? depth - 1 : 0;
}

static bool
has_user_namespace(const struct doc *d)
{
	uint32_t n = doc_first(d, doc_get(d, doc_get(d, 0, "linux"), "namespaces"));

	for (; n != DOC_NONE; n = doc_next(d, n))
		if (doc_equals(d, doc_get(d, n, "type"), "user"))
			return true;
	return false;
}

/* The option that a bind mount needs in a user namespace, or NULL if it has it already or needs none. */
static const char *
idmap_option(const struct cdi_mount *m)
{
	const char *option = m->type != NULL && strcmp(m->type, "bind") == 0 ? "idmap" : NULL;
	size_t i;

	for (i = 0; i < m->options.n; i++) {
		if (strcmp(m->options.v[i], "idmap") == 0 || strcmp(m->options.v[i], "ridmap") == 0)
			return NULL;
		if (strcmp(m->options.v[i], "bind") == 0)
			option = "idmap";
		else if (strcmp(m->options.v[i], "rbind") == 0)
			option = "ridmap";
	}
	return option;
}

static char *
mount_text(const struct cdi_mount *m, bool idmap)
{
	const char *option = idmap ? idmap_option(m) : NULL;
	autobuf struct buf b = { 0 };

	put_string(&b, "destination", m->container_path);
	put_string(&b, "type", m->type);
	put_string(&b, "source", m->host_path);
	put_strings(&b, "options", &m->options);
	if (option != NULL && m->options.n > 0 && b.len > 0)
		b.p[--b.len] = '\0';
	if (option != NULL)
		buf_printf(&b, m->options.n > 0 ? ",\"%s\"]" : ",\"options\":[\"%s\"]", option);
	return object_text(&b);
}

static int
apply_mounts(struct applying *a)
{
	const bool idmap = has_user_namespace(&a->d);
	autoitems struct items l = { 0 };
	autofree char *text = NULL;
	size_t i, k, n = 0;
	uint32_t list;

	for (i = 0; i < a->m->n; i++)
		n += a->m->v[i]->mounts;
	if (n == 0)
		return 0;
	if (member_of_kind(a, 0, "mounts", DOC_ARRAY, &list) == -1 || items_read(a, &l, list, "destination", "mounts") == -1)
		return -1;
	for (i = 0; i < a->m->n; i++)
		for (k = 0; k < a->m->v[i]->mounts; k++) {
			const struct cdi_mount *m = &a->m->v[i]->mount[k];

			if (!items_add(&l, DOC_NONE, mount_text(m, idmap), strdup(m->container_path)))
				return refuse_nomem(a->why);
		}
	for (i = 0; i < l.n; i++)
		l.v[i].rank = mount_depth(l.v[i].key);
	if (!items_finish(&l, ITEMS_REPLACE) || !items_sort(&l) || (text = items_text(&l, &a->d, '[')) == NULL)
		return refuse_nomem(a->why);
	doc_set(&a->edits, &a->d, 0, "mounts", text);
	return 0;
}

static char *
make_hook(const struct cdi_hook *h)
{
	autobuf struct buf b = { 0 };

	put_string(&b, "path", h->path);
	put_strings(&b, "args", &h->args);
	put_strings(&b, "env", &h->env);
	if (h->timeout.set)
		buf_printf(&b, ",\"timeout\":%" PRId64, h->timeout.v);
	return object_text(&b);
}

static int
apply_hook_list(struct applying *a, uint32_t hooks, enum cdi_hook_name when, struct section *s)
{
	autoitems struct items l = { 0 };
	size_t i, k, n = 0;
	uint32_t list;

	if (member_of_kind(a, hooks, cdi_hook_names[when], DOC_ARRAY, &list) == -1 ||
	    items_read(a, &l, list, "path", cdi_hook_names[when]) == -1)
		return -1;
	for (i = 0; i < a->m->n; i++)
		for (k = 0; k < a->m->v[i]->hooks; k++) {
			if (a->m->v[i]->hook[k].when != when)
				continue;
			if (!items_add(&l, DOC_NONE, make_hook(&a->m->v[i]->hook[k]), strdup("")))
				return refuse_nomem(a->why);
			n++;
		}
	if (n > 0)
		section_set(s, cdi_hook_names[when], items_text(&l, &a->d, '['));
	return 0;
}

static int
apply_hooks(struct applying *a)
{
	enum cdi_hook_name when;
	struct section s;
	uint32_t obj;
	int ret = 0;

	if (member_of_kind(a, 0, "hooks", DOC_OBJECT, &obj) == -1)
		return -1;
	section_begin(&s, &a->d, &a->edits, 0, "hooks", obj);
	for (when = 0; ret == 0 && when < CDI_HOOKS; when++)
		ret = apply_hook_list(a, obj, when, &s);
	section_put(&s, NULL);
	return ret;
}

char *
cdi_apply(const char *config, size_t config_len, const struct cdi_merged *m, size_t *len, struct why *why)
{
	struct applying a = { .m = m, .why = why };
	char *text = NULL;

	if (doc_parse(&a.d, config, config_len, why) == -1) {
		doc_free(&a.d);
		refuse_within(why, "config.json");
		return NULL;
	}
	if (!doc_is(&a.d, 0, DOC_OBJECT))
		refuse(why, WHY_DATA, "config.json: is not an object");
	else if (apply_process(&a) == 0 && apply_linux(&a) == 0 && apply_mounts(&a) == 0 && apply_hooks(&a) == 0) {
		if (doc_get(&a.d, 0, "ociVersion") == DOC_NONE)
			doc_set(&a.edits, &a.d, 0, "ociVersion", "\"\"");
		if ((text = doc_apply(&a.d, &a.edits, len)) == NULL)
			refuse_nomem(why);
	}
	doc_edits_free(&a.edits);
	doc_free(&a.d);
	return text;
}
