/* See replyread.h: decodes what the helper wrote, with the client's rights. */
#include "replyread.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "../base/path.h"
#include "../json/strictjson.h"
#include "../lease/calleropread.h"

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
unpack_u32(const json_t *n, uint32_t *out)
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
	return unpack_u32(json_object_get(j, key), out);
}

/* Gets a text that may be missing. */
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
	static const char *const none[] = { NULL };
	const char *source = json_string_value(json_object_get(j, "hostPath"));
	const char *target = json_string_value(json_object_get(j, "containerPath"));
	const char *place = json_string_value(json_object_get(j, "place"));
	struct edit_mount *m;

	if (source == NULL || target == NULL || place == NULL || !edits_add_mount(e, source, target, none))
		return -1;
	m = &e->mount[e->mounts - 1];
	m->fs_path = strdup(place);
	return m->fs_path == NULL ? -1 : unpack_strings(json_object_get(j, "options"), &m->options);
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

/* Gets what the driver adds, which may be missing; it stays as it is. */
static int
unpack_driver(const json_t *j, struct driver_edits *d)
{
	if (unpack_text(j, "driver", &d->files) == -1 || unpack_text(j, "process", &d->process) == -1 ||
	    (d->files == NULL) != (d->process == NULL))
		return -1;
	return d->files == NULL ? 0 : unpack_strings(json_object_get(j, "mounted"), &d->mounted) == -1 ? -1 :
	    unpack_strings(json_object_get(j, "run"), &d->run);
}

static int
unpack_edits(const json_t *j, struct edits *e)
{
	const json_t *c = json_object_get(j, "containerEdits"), *item, *nodes = json_object_get(c, "deviceNodes");
	const json_t *mounts = json_object_get(c, "mounts"), *gids = json_object_get(c, "additionalGids");
	size_t i;

	if (!json_is_array(nodes) || !json_is_array(mounts) || !json_is_array(gids))
		return -1;
	json_array_foreach(nodes, i, item)
		if (unpack_node(item, e) == -1)
			return -1;
	json_array_foreach(mounts, i, item)
		if (unpack_mount(item, e) == -1)
			return -1;
	json_array_foreach(gids, i, item) {
		if (i >= sizeof(e->gid) / sizeof(e->gid[0]) || unpack_u32(item, &e->gid[i]) == -1 ||
		    e->gid[i] == UINT32_MAX)
			return -1;
		e->gids++;
	}
	if (unpack_strings(json_object_get(c, "env"), &e->env) == -1 ||
	    unpack_text(j, "selinuxLabel", &e->label) == -1 || unpack_text(j, "mountLabel", &e->mount_label) == -1 ||
	    (json_object_get(j, "gpus") != NULL && unpack_strings(json_object_get(j, "gpus"), &e->gpus) == -1))
		return -1;
	e->env_secret = !json_is_false(json_object_get(j, "envSecret"));
	e->promise = json_is_true(json_object_get(j, "promise"));
	return unpack_driver(j, &e->driver);
}

/* Gets the reason of a refusal. There must be one, or the build log would have no line. */
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
	for (i = 0; kind != NULL && i < REPLY_KINDS; i++)
		if (strcmp(kind, reply_kinds[i]) == 0)
			break;
	if (kind == NULL || i == REPLY_KINDS) {
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
		text_printable(r->text, sizeof(r->text), s);
	if (json_object_get(j, "chores") != NULL && !caller_ops_unpack(json_object_get(j, "chores"), &r->ops))
		ret = refuse(why, WHY_DATA, "the helper's chores are malformed");
	if ((json_object_get(j, "env") != NULL && unpack_strings(json_object_get(j, "env"), &r->env) == -1) ||
	    (json_object_get(j, "again") != NULL && unpack_number(j, "again", &r->retry_ms) == -1))
		ret = refuse(why, WHY_DATA, "the helper's reply is malformed");
	if (json_object_get(j, "status") != NULL &&
	    (r->status = json_dumps(json_object_get(j, "status"), JSON_COMPACT | JSON_ENCODE_ANY)) == NULL)
		ret = refuse_nomem(why);
	json_decref(j);
	return ret;
}
