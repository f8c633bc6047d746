/*
 * See enginequery.h. gpuhelper-engine may be taken over: what is read here is only well-formed, and checked by its
 * readers.
 */
#include "enginequery.h"

#include <stdlib.h>
#include <string.h>

/* Reads or writes the head. False if another version wrote it. */
static bool
begin_engine_message(struct lines *t, const char *name, enum engine_verb *verb)
{
	static const char *const verbs[] = { "authz", "nodes", "edits" };

	lines_begin(t, name);
	if (!field_version(t))
		return false;
	*verb = (enum engine_verb)field_name(t, verbs, sizeof(verbs) / sizeof(verbs[0]), (unsigned)*verb);
	return true;
}

static void
spec_list_lines(struct lines *t, void *member)
{
	struct engine_spec *s = member;

	field_copy(t, &s->path);
	field_u32(t, &s->dir);
	field_bool(t, &s->read);
	fields_list(t, &s->problems);
}

void
engine_specs_lines(struct lines *t, struct engine_specs *s)
{
	lines_begin(t, "kept");
	field_bool(t, &s->cached);
	lines_begin(t, "problems");
	fields_list(t, &s->problems);
	lines_members(t, "file", (void **)&s->v, &s->n, SIZE_MAX, sizeof(*s->v), spec_list_lines);
}

/* Before the lines stands their length, 8 bytes as in memory, because what follows them is bytes. */
char *
pack_with(const struct buf *lines, const char *bytes, size_t len, size_t *size)
{
	const uint64_t head = lines->len;
	autobuf struct buf all = { 0 };

	if (lines->failed)
		return NULL;
	buf_add(&all, (const char *)&head, sizeof(head));
	buf_add(&all, lines->p, lines->len);
	if (len > 0)
		buf_add(&all, bytes, len);
	*size = all.len;
	return buf_take(&all);
}

static void
granted_gpu_fields(struct lines *t, void *member)
{
	struct granted_index *w = member;

	field_u32(t, &w->gpu);
	field_u32(t, &w->rule);
}

static void
folder_fields(struct lines *t, void *member)
{
	struct edit_mount *m = member;

	field_copy(t, &m->source);
	field_copy(t, &m->target);
}

void
engine_query_lines(struct lines *t, struct engine_query *a)
{
	(void)begin_engine_message(t, "ask", &a->verb);
	field_bool(t, &a->picks);
	if (a->picks)
		pick_query_lines(t, &a->pick);
	lines_begin(t, "bound");
	field_bool(t, &a->cuda_bound);
	field_bool(t, &a->rocr_bound);
	lines_members(t, "folder", (void **)&a->folder, &a->folders, SIZE_MAX, sizeof(*a->folder), folder_fields);
	lines_members(t, "want", (void **)&a->granted, &a->grants, ENGINE_GPUS_MAX, sizeof(*a->granted), granted_gpu_fields);
}

/* A list that is short in every true answer: whoever hears it does work for each word, under a lock. */
static void
list_line(struct lines *t, const char *name, struct strlist *l, size_t max)
{
	lines_begin(t, name);
	fields_list(t, l);
	if (t->out == NULL && l->n > max)
		t->failed = true;
}

static void
node_fields(struct lines *t, void *member)
{
	struct gpu_node *n = member;

	field_text(t, n->path, sizeof(n->path));
	field_u32(t, &n->major);
	field_u32(t, &n->minor);
}

void
engine_answer_lines(struct lines *t, enum engine_verb verb, bool picks, struct engine_answer *a)
{
	struct driver_edits *d = &a->driver;
	enum engine_verb said = verb;

	a->other_version = !begin_engine_message(t, "answer", &said);
	t->failed = t->failed || said != verb;
	why_fields(t, &a->why);
	if (picks && !t->failed)
		pick_answer_lines(t, &a->pick);
	if (t->failed || a->why.code != WHY_NONE)
		return;
	lines_members(t, "node", (void **)&a->node, &a->nodes, DRIVER_NODES_MAX, sizeof(*a->node), node_fields);
	list_line(t, "env", &a->env, DRIVER_WORDS_MAX);
	lines_begin(t, "line");
	field_text(t, a->line, sizeof(a->line));
	if (verb != ENGINE_EDITS)
		return;
	list_line(t, "mounted", &d->mounted, DRIVER_MOUNTS_MAX);
	list_line(t, "run", &d->run, DRIVER_HOOKS_MAX);
	list_line(t, "specs", &d->specs, DRIVER_WORDS_MAX);
	lines_begin(t, "driver");
	field_copy(t, &d->files);
	lines_begin(t, "process");
	field_copy(t, &d->process);
}

void
engine_answer_free(struct engine_answer *a)
{
	free(a->pick.v);
	free(a->node);
	strlist_free(&a->env);
	driver_edits_free(&a->driver);
	*a = (struct engine_answer){ .nodes = 0 };
}
