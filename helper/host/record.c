/* See record.h.  Tells the time, and touches nothing. */
#include "record.h"

#include <time.h>

#include "../pure/jsonout.h"

#define FIELD_MAX 256

static void
put(struct jsonout *j, const char *key, const char *text)
{
	char safe[FIELD_MAX];

	if (text == NULL || *text == '\0')
		return;
	text_printable(safe, sizeof(safe), text);
	jsonout_text(j, key, safe);
}

static void
put_list(struct jsonout *j, const char *name, const struct strlist *l)
{
	if (l != NULL && l->n > 0)
		jsonout_list(j, name, l);
}

static void
put_folder(struct jsonout *j, const struct edit_mount *m)
{
	jsonout_begin(j, NULL, "{");
	put(j, "path", m->source);
	put(j, "target", m->target);
	put(j, "access", strlist_has(&m->options, "rw") ? "rw" : "ro");
	if (m->relabel != RELABEL_NO)
		put(j, "relabel", relabel_name(m->relabel));
	jsonout_end(j, "}");
}

static void
put_folders(struct jsonout *j, const struct edits *e)
{
	bool begun = false;
	size_t i;

	for (i = 0; i < e->mounts; i++) {
		if (e->mount[i].driver)
			continue;
		if (!begun)
			jsonout_begin(j, "folders", "[");
		begun = true;
		put_folder(j, &e->mount[i]);
	}
	if (begun)
		jsonout_end(j, "]");
}

/* What the container is let into. */
static void
put_edits(struct jsonout *j, const struct edits *e)
{
	size_t i;

	if (e->nodes > 0) {
		jsonout_begin(j, "nodes", "[");
		for (i = 0; i < e->nodes; i++)
			jsonout_text(j, NULL, e->node[i].path);
		jsonout_end(j, "]");
	}
	if (e->hooks > 0) {
		jsonout_begin(j, "hooks", "[");
		for (i = 0; i < e->hooks; i++)
			jsonout_text(j, NULL, e->hook[i].path);
		jsonout_end(j, "]");
	}
	put(j, "selinux", e->label);
	put_folders(j, e);
}

static void
put_identity(struct jsonout *j, const struct known *k)
{
	put(j, "identity", identity_name(k->id.kind));
	put(j, "team", k->id.team);
	put(j, "pipeline", k->id.pipeline);
	put(j, "job", k->id.job);
	put(j, "issuer", k->id.issuer);
	put(j, "token_sha256", k->token_hash);
	if (k->claims.exp != 0)
		jsonout_int(j, "token_exp", k->claims.exp);
}

static void
put_who(struct jsonout *j, const struct record *r)
{
	jsonout_int(j, "uid", r->uid);
	put(j, "user", r->user);
	if (r->pid != 0)
		jsonout_int(j, "pid", r->pid);
	if (r->request != NULL) {
		put(j, "container", r->request->id);
		put(j, "asked_gpus", r->request->gpus);
		put(j, "asked_folders", r->request->folders);
		if (r->request->privileged)
			jsonout_bool(j, "privileged", true);
	}
	if (r->known != NULL)
		put_identity(j, r->known);
}

static void
put_outcome(struct jsonout *j, const struct record *r)
{
	put(j, "policy", r->policy);
	put_list(j, "gpus", r->gpus);
	put_list(j, "cdi_specs", r->specs);
	if (r->edits != NULL)
		put_edits(j, r->edits);
	if (r->again)
		jsonout_bool(j, "again", true);
	if (r->draining)
		jsonout_bool(j, "draining", true);
	if (r->waited > 0)
		jsonout_int(j, "waited", r->waited);
	if (r->suppressed > 0)
		jsonout_int(j, "suppressed", r->suppressed);
	if (r->why != NULL) {
		jsonout_int(j, "code", r->why->code);
		jsonout_text(j, "reason", r->why->text);
	}
}

int
record_line(const struct record *r, struct buf *line, struct why *why)
{
	struct jsonout j = { .ascii = true };
	char when[32];

	text_time(time(NULL), when);
	jsonout_begin(&j, NULL, "{");
	put(&j, "time", when);
	put(&j, "event", r->event);
	put_who(&j, r);
	put_outcome(&j, r);
	jsonout_end(&j, "}");
	/* a name that is not UTF-8 is no reason to leave a record out: U+FFFD stands for the bytes that are not */
	*line = j.buf;
	buf_puts(line, "\n");
	return line->failed ? refuse_nomem(why) : 0;
}
