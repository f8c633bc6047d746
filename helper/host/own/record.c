/* See record.h. Reads the clock, and no file. */
#include "record.h"

#include <string.h>
#include <time.h>

#include "../../base/cleanup.h"
#include "../../json/jsonout.h"
#include "../../policy/instancevars.h"

#define FIELD_MAX 256

static void
put_field(struct jsonout *j, const char *key, const char *text)
{
	char safe[FIELD_MAX];

	if (text == NULL || *text == '\0')
		return;
	text_printable(safe, sizeof(safe), text);
	jsonout_text(j, key, safe);
}

static void
put_texts(struct jsonout *j, const char *name, const struct strlist *l)
{
	if (l != NULL && l->n > 0)
		jsonout_list(j, name, l);
}

static void
put_folder(struct jsonout *j, const struct edit_mount *m)
{
	jsonout_begin(j, NULL, "{");
	put_field(j, "path", m->source);
	put_field(j, "target", m->target);
	put_field(j, "access", strlist_has(&m->options, "rw") ? "rw" : "ro");
	if (m->relabel != RELABEL_NO)
		put_field(j, "relabel", relabel_name(m->relabel));
	jsonout_end(j, "}");
}

static void
put_folders(struct jsonout *j, const struct edits *e)
{
	size_t i;

	if (e->mounts == 0)
		return;
	jsonout_begin(j, "folders", "[");
	for (i = 0; i < e->mounts; i++)
		put_folder(j, &e->mount[i]);
	jsonout_end(j, "]");
}

/* Device nodes and folders that the container gets. */
static void
put_granted(struct jsonout *j, const struct edits *e)
{
	size_t i;

	if (e->nodes > 0) {
		jsonout_begin(j, "nodes", "[");
		for (i = 0; i < e->nodes; i++)
			jsonout_text(j, NULL, e->node[i].path);
		jsonout_end(j, "]");
	}
	put_texts(j, "hooks", &e->driver.run);
	put_field(j, "selinux", e->label);
	put_folders(j, e);
}

/*
 * Writes the variables as one text, so that no key of a record comes from a task's author. They come from a valid
 * token, or from a claim: «identity» says which.
 */
static void
put_identity(struct jsonout *j, const struct attribution *whose)
{
	put_field(j, "identity", identity_name(whose->kind));
	put_field(j, "team", whose->team);
	put_field(j, "pipeline", whose->pipeline);
	put_field(j, "job", whose->job);
	if (whose->vars != NULL)
		jsonout_text(j, "instance_vars", whose->vars);
	if (whose->vars_left_out > 0)
		jsonout_int(j, "instance_vars_left_out", whose->vars_left_out);
	put_field(j, "issuer", whose->issuer);
	put_field(j, "token_sha256", whose->token_hash);
	if (whose->exp != 0)
		jsonout_int(j, "token_exp", whose->exp);
}

/* For a claim that nobody has parsed, or that is no JSON: writes its text as it is, cut to fit. */
static void
put_claimed_vars(struct jsonout *j, const char *json)
{
	char safe[VARS_SHOWN_MAX + 1];

	text_printable(safe, sizeof(safe), json);
	jsonout_text(j, "instance_vars", safe);
}

/*
 * A lease does not say how the names were proven, so the record has no «identity». Names with a slash of their own,
 * which a claim can have, are left out: another team's records could be meant.
 */
static void
put_pipeline_of_lease(struct jsonout *j, const char *names)
{
	const char *slash = names != NULL ? strchr(names, '/') : NULL;
	autofree char *team = slash != NULL ? strndup(names, (size_t)(slash - names)) : NULL;

	if (slash == NULL || strchr(slash + 1, '/') != NULL)
		return;
	j->buf.failed = j->buf.failed || team == NULL;
	put_field(j, "team", team);
	put_field(j, "pipeline", slash + 1);
}

static void
put_who(struct jsonout *j, const struct record *r)
{
	jsonout_int(j, "uid", r->uid);
	put_field(j, "user", r->user);
	if (r->pid != 0)
		jsonout_int(j, "pid", r->pid);
	if (r->request != NULL) {
		put_field(j, "container", r->request->id);
		put_field(j, "asked_gpus", r->request->untrusted.gpus);
		put_field(j, "asked_folders", r->request->untrusted.folders);
		if (r->request->spec.privileged)
			jsonout_bool(j, "privileged", true);
	}
	put_pipeline_of_lease(j, r->of_lease);
	if (r->whose == NULL)
		return;
	put_identity(j, r->whose);
	if (r->whose->kind == IDENTITY_CLAIM && r->whose->vars == NULL && r->request != NULL &&
	    r->request->untrusted.instance_vars != NULL)
		put_claimed_vars(j, r->request->untrusted.instance_vars);
}

static void
put_outcome(struct jsonout *j, const struct record *r)
{
	autostrlist struct strlist changes = { 0 };

	put_field(j, "policy", r->policy);
	put_texts(j, "gpus", r->gpus);
	if (r->edits != NULL) {
		put_texts(j, "cdi_specs", &r->edits->driver.specs);
		put_granted(j, r->edits);
	}
	j->buf.failed = (r->changes != NULL && !changes_describe(r->changes, &changes)) || j->buf.failed;
	put_texts(j, "acts", &changes);
	put_field(j, "reply_sha256", r->reply);
	if (r->releasing)
		jsonout_bool(j, "draining", true);
	if (r->waited > 0)
		jsonout_int(j, "waited", r->waited);
	if (r->suppressed > 0)
		jsonout_int(j, "suppressed", r->suppressed);
	if (r->why != NULL) {
		if (r->why->code != WHY_NONE)
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
	put_field(&j, "time", when);
	put_field(&j, "event", r->event);
	put_who(&j, r);
	put_outcome(&j, r);
	jsonout_end(&j, "}");
	/* bytes that are not UTF-8 become U+FFFD: a record must never be left out for them */
	*line = j.buf;
	buf_puts(line, "\n");
	return line->failed ? refuse_nomem(why) : 0;
}
