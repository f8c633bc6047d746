/* See edits.h.  Encoded by root, decoded with the caller's rights. */
#include "edits.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"
#include "strictjson.h"
#include "wire.h"

static const char *const kinds[] = { "grant", "plain", "noted", "refused", "busy" };

bool
edits_add_node(struct edits *e, const struct edit_node *n)
{
	struct edit_node *v;
	size_t i;

	for (i = 0; i < e->nodes; i++)
		if (strcmp(e->node[i].path, n->path) == 0)
			return true;
	if ((v = reallocarray(e->node, e->nodes + 1, sizeof(*v))) == NULL)
		return false;
	e->node = v;
	e->node[e->nodes++] = *n;
	return true;
}

bool
edits_add_mount(struct edits *e, const char *source, const char *target, const char *const *options)
{
	struct edit_mount *v = reallocarray(e->mount, e->mounts + 1, sizeof(*v)), *m;

	if (v == NULL)
		return false;
	e->mount = v;
	m = &e->mount[e->mounts++];
	*m = (struct edit_mount){ .source = strdup(source), .target = strdup(target) };
	if (m->source == NULL || m->target == NULL)
		return false;
	for (; *options != NULL; options++)
		if (!strlist_add(&m->options, *options, SIZE_MAX))
			return false;
	return true;
}

bool
edits_add_env(struct edits *e, const char *entry)
{
	const size_t n = strcspn(entry, "=");
	size_t i;

	for (i = 0; i < e->env.n; i++)
		if (strcspn(e->env.v[i], "=") == n && strncmp(e->env.v[i], entry, n) == 0)
			return true;
	return strlist_add(&e->env, entry, SIZE_MAX);
}

struct edit_hook *
edits_add_hook(struct edits *e)
{
	struct edit_hook *v = reallocarray(e->hook, e->hooks + 1, sizeof(*v));

	if (v == NULL)
		return NULL;
	e->hook = v;
	v[e->hooks] = (struct edit_hook){ 0 };
	return &v[e->hooks++];
}

static int
mount_order(const void *a, const void *b)
{
	const struct edit_mount *x = a, *y = b;
	unsigned dx = path_depth(x->target), dy = path_depth(y->target);

	return dx != dy ? (dx > dy) - (dx < dy) : strcmp(x->target, y->target);
}

void
edits_sort_mounts(struct edits *e)
{
	if (e->mounts > 1)
		qsort(e->mount, e->mounts, sizeof(*e->mount), mount_order);
}

void
edits_free(struct edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++) {
		free(e->mount[i].source);
		free(e->mount[i].target);
		free(e->mount[i].place);
		strlist_free(&e->mount[i].options);
	}
	for (i = 0; i < e->hooks; i++) {
		free(e->hook[i].when);
		free(e->hook[i].path);
		strlist_free(&e->hook[i].args);
		strlist_free(&e->hook[i].env);
	}
	free(e->mount);
	free(e->hook);
	free(e->node);
	strlist_free(&e->env);
	strlist_free(&e->masked);
	free(e->label);
	free(e->mount_label);
	*e = (struct edits){ 0 };
}

static json_t *
pack_strings(const struct strlist *l)
{
	json_t *j = json_array();
	size_t i;

	for (i = 0; i < l->n; i++)
		json_array_append_new(j, json_string(l->v[i]));
	return j;
}

static json_t *
pack_hooks(const struct edits *e)
{
	json_t *hooks = json_array();
	size_t i;

	for (i = 0; i < e->hooks; i++)
		json_array_append_new(hooks, json_pack("{s:s, s:s, s:o, s:o, s:I}", "hookName", e->hook[i].when,
		    "path", e->hook[i].path, "args", pack_strings(&e->hook[i].args), "env", pack_strings(&e->hook[i].env),
		    "timeout", (json_int_t)e->hook[i].timeout));
	return hooks;
}

static json_t *
pack_edits(const struct edits *e)
{
	json_t *nodes = json_array(), *mounts = json_array(), *gids = json_array(), *j;
	bool whole = true;
	size_t i;

	for (i = 0; i < e->nodes; i++)
		json_array_append_new(nodes, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s}",
		    "path", e->node[i].path, "type", "c", "major", (json_int_t)e->node[i].major,
		    "minor", (json_int_t)e->node[i].minor, "fileMode", (json_int_t)e->node[i].mode,
		    "uid", (json_int_t)e->node[i].uid, "gid", (json_int_t)e->node[i].gid, "permissions", "rw"));
	for (i = 0; i < e->mounts; i++)
		whole = json_array_append_new(mounts, json_pack("{s:s, s:s, s:o, s:s*}", "hostPath", e->mount[i].source,
		    "containerPath", e->mount[i].target, "options", pack_strings(&e->mount[i].options), "place",
		    e->mount[i].place)) == 0 && whole;
	for (i = 0; i < e->gids; i++)
		json_array_append_new(gids, json_integer(e->gid[i]));
	j = json_pack("{s:o, s:o, s:o, s:o, s:o}", "deviceNodes", nodes, "mounts", mounts, "hooks", pack_hooks(e),
	    "env", pack_strings(&e->env), "additionalGids", gids);
	/* what is no UTF-8 makes no JSON: rather nothing than a folder less */
	if (!whole) {
		json_decref(j);
		j = NULL;
	}
	return j;
}

char *
reply_encode(const struct reply *r)
{
	bool whole = true;
	json_t *j;

	strictjson_watch();
	j = json_pack("{s:s}", "reply", kinds[r->kind]);
	if (r->kind == REPLY_REFUSED || r->kind == REPLY_BUSY) {
		json_object_set_new(j, "code", json_integer(r->why.code));
		json_object_set_new(j, "text", json_string(r->why.text));
		json_object_set_new(j, "wait", json_integer(r->wait));
		json_object_set_new(j, "ahead", json_integer(r->ahead));
	} else if (r->kind == REPLY_GRANT) {
		json_object_set_new(j, "policy", json_string(r->policy));
		whole = json_object_set_new(j, "containerEdits", pack_edits(&r->edits)) == 0;
		json_object_set_new(j, "maskedPaths", pack_strings(&r->edits.masked));
		if (r->edits.label != NULL)
			json_object_set_new(j, "selinuxLabel", json_string(r->edits.label));
		if (r->edits.mount_label != NULL)
			json_object_set_new(j, "mountLabel", json_string(r->edits.mount_label));
	} else if (r->status != NULL)
		json_object_set(j, "status", r->status);
	if (r->line[0] != '\0')
		json_object_set_new(j, "line", json_string(r->line));
	if (r->chores.n > 0)
		json_object_set_new(j, "chores", chores_pack(&r->chores));
	if (!whole) {
		json_decref(j);
		j = NULL;
	}
	return strictjson_text(j);
}

static int
unpack_strings(const json_t *j, struct strlist *out)
{
	const json_t *s;
	size_t i;

	if (!json_is_array(j))
		return -1;
	json_array_foreach(j, i, s)
		if (!json_is_string(s) || !strlist_add(out, json_string_value(s), SIZE_MAX))
			return -1;
	return 0;
}

static int
to_number(const json_t *n, uint32_t *out)
{
	json_int_t v = json_integer_value(n);

	if (!json_is_integer(n) || v < 0 || v > (json_int_t)UINT32_MAX)
		return -1;
	*out = (uint32_t)v;
	return 0;
}

static int
unpack_number(const json_t *j, const char *key, uint32_t *out)
{
	return to_number(json_object_get(j, key), out);
}

static int
unpack_node(const json_t *j, struct edits *e)
{
	const char *path = json_string_value(json_object_get(j, "path"));
	struct edit_node n = { 0 };

	if (path == NULL || strlen(path) >= sizeof(n.path))
		return -1;
	snprintf(n.path, sizeof(n.path), "%s", path);
	if (unpack_number(j, "major", &n.major) == -1 || unpack_number(j, "minor", &n.minor) == -1 ||
	    unpack_number(j, "fileMode", &n.mode) == -1 || unpack_number(j, "uid", &n.uid) == -1 ||
	    unpack_number(j, "gid", &n.gid) == -1)
		return -1;
	return edits_add_node(e, &n) ? 0 : -1;
}

/* A text that may be missing. */
static int
unpack_text(const json_t *j, const char *key, char **out)
{
	const json_t *s = json_object_get(j, key);

	if (s == NULL)
		return 0;
	return json_is_string(s) && (*out = strdup(json_string_value(s))) != NULL ? 0 : -1;
}

static int
unpack_mount(const json_t *j, struct edits *e)
{
	const char *source = json_string_value(json_object_get(j, "hostPath"));
	const char *target = json_string_value(json_object_get(j, "containerPath"));
	static const char *const none[] = { NULL };

	if (source == NULL || target == NULL || !edits_add_mount(e, source, target, none))
		return -1;
	return unpack_text(j, "place", &e->mount[e->mounts - 1].place) == -1 ? -1 :
	    unpack_strings(json_object_get(j, "options"), &e->mount[e->mounts - 1].options);
}

static int
unpack_hook(const json_t *j, struct edits *e)
{
	const char *when = json_string_value(json_object_get(j, "hookName"));
	const char *path = json_string_value(json_object_get(j, "path"));
	struct edit_hook *h;

	if (when == NULL || path == NULL || (h = edits_add_hook(e)) == NULL || (h->when = strdup(when)) == NULL ||
	    (h->path = strdup(path)) == NULL || unpack_number(j, "timeout", &h->timeout) == -1)
		return -1;
	return unpack_strings(json_object_get(j, "args"), &h->args) == -1 ? -1 :
	    unpack_strings(json_object_get(j, "env"), &h->env);
}

static int
unpack_edits(const json_t *j, struct edits *e)
{
	const json_t *c = json_object_get(j, "containerEdits"), *item, *nodes = json_object_get(c, "deviceNodes");
	const json_t *mounts = json_object_get(c, "mounts"), *gids = json_object_get(c, "additionalGids");
	const json_t *hooks = json_object_get(c, "hooks");
	size_t i;

	if (!json_is_array(nodes) || !json_is_array(mounts) || !json_is_array(gids) || !json_is_array(hooks))
		return -1;
	json_array_foreach(hooks, i, item)
		if (unpack_hook(item, e) == -1)
			return -1;
	json_array_foreach(nodes, i, item)
		if (unpack_node(item, e) == -1)
			return -1;
	json_array_foreach(mounts, i, item)
		if (unpack_mount(item, e) == -1)
			return -1;
	json_array_foreach(gids, i, item) {
		if (i >= sizeof(e->gid) / sizeof(e->gid[0]) || to_number(item, &e->gid[i]) == -1 ||
		    e->gid[i] == UINT32_MAX)
			return -1;
		e->gids++;
	}
	if (unpack_strings(json_object_get(c, "env"), &e->env) == -1 ||
	    unpack_text(j, "selinuxLabel", &e->label) == -1 || unpack_text(j, "mountLabel", &e->mount_label) == -1)
		return -1;
	return unpack_strings(json_object_get(j, "maskedPaths"), &e->masked);
}

/* What a refusal is for; one without a reason would be no line in the build log. */
static int
unpack_why(const json_t *j, struct reply *r)
{
	const char *text = json_string_value(json_object_get(j, "text"));
	uint32_t code;

	if (text == NULL || unpack_number(j, "code", &code) == -1 || code < WHY_USAGE || code > WHY_CONFIG ||
	    unpack_number(j, "wait", &r->wait) == -1 || unpack_number(j, "ahead", &r->ahead) == -1)
		return -1;
	refuse(&r->why, (enum why_code)code, "%s", text);
	return 0;
}

int
reply_decode(const char *text, size_t len, struct reply *r, struct why *why)
{
	const char *kind, *s;
	json_t *j;
	size_t i;
	int ret = 0;

	*r = (struct reply){ 0 };
	if ((j = strictjson_object(text, len, why)) == NULL)
		return refuse_within(why, "the helper's reply");
	kind = json_string_value(json_object_get(j, "reply"));
	for (i = 0; kind != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i]) == 0)
			break;
	if (kind == NULL || i == sizeof(kinds) / sizeof(kinds[0])) {
		json_decref(j);
		return refuse(why, WHY_DATA, "the helper's reply is malformed");
	}
	r->kind = (enum reply_kind)i;
	if ((r->kind == REPLY_REFUSED || r->kind == REPLY_BUSY) && unpack_why(j, r) == -1)
		ret = refuse(why, WHY_DATA, "the helper's reply is malformed");
	if ((s = json_string_value(json_object_get(j, "policy"))) != NULL)
		snprintf(r->policy, sizeof(r->policy), "%s", s);
	if (r->kind == REPLY_GRANT && unpack_edits(j, &r->edits) == -1)
		ret = refuse(why, WHY_DATA, "the helper's changes are malformed");
	if ((s = json_string_value(json_object_get(j, "line"))) != NULL)
		text_printable(r->line, sizeof(r->line), s);
	if (json_object_get(j, "chores") != NULL && !chores_unpack(json_object_get(j, "chores"), &r->chores))
		ret = refuse(why, WHY_DATA, "the helper's chores are malformed");
	r->status = json_incref(json_object_get(j, "status"));
	json_decref(j);
	return ret;
}

void
reply_free(struct reply *r)
{
	edits_free(&r->edits);
	chores_free(&r->chores);
	json_decref(r->status);
	*r = (struct reply){ 0 };
}
