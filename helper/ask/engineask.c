/*
 * See engineask.h. gpuhelper-engine may be taken over: what is read here is only well-formed, and checked by its
 * readers.
 */
#include "engineask.h"

#include <stdlib.h>
#include <string.h>

/* Reads or writes the head. False if another version wrote it. */
static bool
begin_engine_message(struct lines *t, const char *name, enum engine_verb *verb)
{
	static const char *const verbs[] = { "authz", "nodes", "edits" };

	lines_begin(t, name);
	if (!word_version(t))
		return false;
	*verb = (enum engine_verb)word_name(t, verbs, sizeof(verbs) / sizeof(verbs[0]), (unsigned)*verb);
	return true;
}

static void
spec_list_lines(struct lines *t, void *member)
{
	struct engine_spec *s = member;

	word_copy(t, &s->path);
	word_u32(t, &s->dir);
	word_bool(t, &s->read);
	words_list(t, &s->problems);
}

void
engine_specs_lines(struct lines *t, struct engine_specs *s)
{
	lines_begin(t, "kept");
	word_bool(t, &s->cached);
	lines_begin(t, "problems");
	words_list(t, &s->problems);
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
want_words(struct lines *t, void *member)
{
	struct engine_want *w = member;

	word_u32(t, &w->gpu);
	word_u32(t, &w->rule);
}

void
engine_ask_lines(struct lines *t, struct engine_ask *a)
{
	(void)begin_engine_message(t, "ask", &a->verb);
	word_bool(t, &a->picks);
	if (a->picks)
		pick_ask_lines(t, &a->pick);
	lines_members(t, "want", (void **)&a->want, &a->wants, ENGINE_WANTS_MAX, sizeof(*a->want), want_words);
}

/* A list that is short in every true answer: whoever hears it does work for each word, under a lock. */
static void
short_list(struct lines *t, struct strlist *l)
{
	words_list(t, l);
	if (t->out == NULL && l->n > DRIVER_WORDS_MAX)
		t->failed = true;
}

static void
node_words(struct lines *t, void *member)
{
	struct gpu_node *n = member;

	word_text(t, n->path, sizeof(n->path));
	word_u32(t, &n->major);
	word_u32(t, &n->minor);
}

static void
driver_mount_words(struct lines *t, void *member)
{
	struct edit_mount *m = member;

	word_copy(t, &m->source);
	word_copy(t, &m->target);
	short_list(t, &m->options);
	m->driver = true;
}

static void
driver_hook_lines(struct lines *t, void *member)
{
	struct edit_hook *h = member;

	word_copy(t, &h->when);
	word_copy(t, &h->path);
	word_u32(t, &h->timeout);
	lines_begin(t, "args");
	short_list(t, &h->args);
	lines_begin(t, "environment");
	short_list(t, &h->env);
}

static void
edits_of_driver_lines(struct lines *t, struct engine_answer *a)
{
	struct edits *e = &a->edits;

	lines_members(t, "mount", (void **)&e->mount, &e->mounts, DRIVER_MOUNTS_MAX, sizeof(*e->mount), driver_mount_words);
	lines_members(t, "hook", (void **)&e->hook, &e->hooks, DRIVER_HOOKS_MAX, sizeof(*e->hook), driver_hook_lines);
	lines_begin(t, "env");
	short_list(t, &e->env);
	lines_begin(t, "notes");
	short_list(t, &e->notes);
	lines_begin(t, "masked");
	words_list(t, &e->masked);
	if (t->out == NULL && e->masked.n > ENGINE_MASKED_MAX)
		t->failed = true;
	lines_begin(t, "specs");
	short_list(t, &a->specs);
}

void
engine_answer_lines(struct lines *t, enum engine_verb verb, bool picks, struct engine_answer *a)
{
	enum engine_verb said = verb;

	a->other_version = !begin_engine_message(t, "answer", &said);
	t->failed = t->failed || said != verb;
	why_words(t, &a->why);
	if (picks && !t->failed)
		pick_answer_lines(t, &a->pick);
	if (t->failed || a->why.code != WHY_NONE)
		return;
	lines_members(t, "node", (void **)&a->node, &a->nodes, DRIVER_NODES_MAX, sizeof(*a->node), node_words);
	if (verb == ENGINE_EDITS)
		edits_of_driver_lines(t, a);
}

void
engine_answer_free(struct engine_answer *a)
{
	free(a->pick.v);
	free(a->node);
	edits_free(&a->edits);
	strlist_free(&a->specs);
	*a = (struct engine_answer){ .nodes = 0 };
}
