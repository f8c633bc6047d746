/* See edits.h.  What root writes; replyread.c reads it back, with the caller's rights. */
#include "edits.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"
#include "watchjson.h"
#include "wire.h"

const char *const reply_kinds[REPLY_KINDS] = { "grant", "plain", "noted", "refused", "busy" };

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

	watchjson_begin();
	j = json_pack("{s:s}", "reply", reply_kinds[r->kind]);
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
	return watchjson_text(j);
}

void
reply_free(struct reply *r)
{
	edits_free(&r->edits);
	chores_free(&r->chores);
	json_decref(r->status);
	*r = (struct reply){ 0 };
}
