/* See reply.h. Root encodes replies; replyread.c decodes them with the caller's rights. */
#include "reply.h"

#include <stdlib.h>
#include <string.h>

#include "wire.h"

const char *const reply_kinds[REPLY_KINDS] = { "grant", "plain", "noted", "refused", "busy" };

static void
write_nodes(struct jsonout *j, const struct edits *e)
{
	size_t i;

	jsonout_begin(j, "deviceNodes", "[");
	for (i = 0; i < e->nodes; i++) {
		jsonout_begin(j, NULL, "{");
		jsonout_text(j, "path", e->node[i].path);
		jsonout_text(j, "type", "c");
		jsonout_int(j, "major", e->node[i].major);
		jsonout_int(j, "minor", e->node[i].minor);
		jsonout_int(j, "fileMode", e->node[i].mode);
		jsonout_int(j, "uid", e->node[i].uid);
		jsonout_int(j, "gid", e->node[i].gid);
		jsonout_text(j, "permissions", "rw");
		jsonout_end(j, "}");
	}
	jsonout_end(j, "]");
}

static void
write_edits(struct jsonout *j, const struct edits *e)
{
	jsonout_begin(j, "containerEdits", "{");
	write_nodes(j, e);
	edits_write_mounts(j, e);
	jsonout_list(j, "env", &e->env);
	edits_write_groups(j, "additionalGids", e);
	jsonout_end(j, "}");
}

/* What the driver adds is passed on unread, as texts. */
static void
write_driver(struct jsonout *j, const struct driver_edits *d)
{
	if (d->files == NULL)
		return;
	jsonout_text(j, "driver", d->files);
	jsonout_text(j, "process", d->process);
	jsonout_list(j, "mounted", &d->mounted);
	jsonout_list(j, "run", &d->run);
}

static void
write_grant(struct jsonout *j, const struct reply *r)
{
	jsonout_text(j, "policy", r->policy);
	write_edits(j, &r->edits);
	write_driver(j, &r->edits.driver);
	jsonout_bool(j, "envSecret", r->edits.env_secret);
	jsonout_bool(j, "promise", r->edits.promise);
	jsonout_list(j, "gpus", &r->edits.gpus);
	if (r->edits.label != NULL)
		jsonout_text(j, "selinuxLabel", r->edits.label);
	if (r->edits.mount_label != NULL)
		jsonout_text(j, "mountLabel", r->edits.mount_label);
}

char *
reply_encode(const struct reply *r)
{
	autojsonout struct jsonout j = { .next = false };

	jsonout_begin(&j, NULL, "{");
	jsonout_text(&j, "reply", reply_kinds[r->kind]);
	if (r->kind == REPLY_REFUSED || r->kind == REPLY_BUSY) {
		jsonout_int(&j, "code", r->why.code);
		jsonout_text(&j, "text", r->why.text);
		jsonout_int(&j, "wait", r->wait);
		jsonout_int(&j, "ahead", r->ahead);
	} else if (r->kind == REPLY_GRANT)
		write_grant(&j, r);
	else if (r->status != NULL)
		jsonout_json(&j, "status", r->status);
	if (r->text[0] != '\0')
		jsonout_text(&j, "line", r->text);
	if (r->nonce[0] != '\0')
		jsonout_text(&j, "nonce", r->nonce);
	if (r->env.n > 0)
		jsonout_list(&j, "env", &r->env);
	if (r->retry_ms > 0)
		jsonout_int(&j, "again", r->retry_ms);
	if (r->ops.n > 0)
		caller_ops_write(&j, "chores", &r->ops);
	jsonout_end(&j, "}");
	/* text that is not UTF-8 makes the reply fail: leaving it out could leave a folder out */
	return jsonout_take(&j);
}

char *
reply_text(const struct reply *r, struct why *why)
{
	char *text = reply_encode(r);

	if (text == NULL)
		refuse_nomem(why);
	else if (strlen(text) > WIRE_REPLY_MAX) {
		refuse(why, WHY_CONFIG, "the changes to config.json have %zu bytes, at most %d are possible: has a CDI spec too "
		    "many mounts or variables?", strlen(text), WIRE_REPLY_MAX);
		free(text);
		return NULL;
	}
	return text;
}

void
reply_free(struct reply *r)
{
	edits_free(&r->edits);
	strlist_free(&r->env);
	caller_ops_free(&r->ops);
	free(r->status);
	free(r->encoded);
	*r = (struct reply){ 0 };
}
