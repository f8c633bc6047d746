/* See callerop.h. Computes only. */
#include "callerop.h"

#include <stdio.h>
#include <stdlib.h>

const char *const op_kind_names[OP_KINDS] = { "shut", "open", "clear", "stop" };

struct caller_op *
caller_ops_add(struct caller_ops *c)
{
	struct caller_op *v = reallocarray(c->v, c->n + 1, sizeof(*v));

	if (v == NULL)
		return NULL;
	c->v = v;
	v[c->n] = (struct caller_op){ 0 };
	return &v[c->n++];
}

bool
caller_op_add_node(struct caller_op *c, const struct promised_node *n)
{
	struct promised_node *v = reallocarray(c->node, c->nodes + 1, sizeof(*v));

	if (v == NULL)
		return false;
	c->node = v;
	v[c->nodes++] = *n;
	return true;
}

void
caller_ops_free(struct caller_ops *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		free(c->v[i].file);
		free(c->v[i].id);
		free(c->v[i].devcgroup);
		free(c->v[i].node);
		strlist_free(&c->v[i].cgroups);
	}
	free(c->v);
	*c = (struct caller_ops){ 0 };
}

/* Writes 64-bit numbers as text, because JSON readers may lose digits. */
static void
write_process_id(struct jsonout *j, const char *key, const struct process_id *p)
{
	char start[24];

	snprintf(start, sizeof(start), "%llu", (unsigned long long)p->start);
	jsonout_begin(j, key, "[");
	jsonout_int(j, NULL, p->pid);
	jsonout_text(j, NULL, start);
	jsonout_end(j, "]");
}

static void
write_one(struct jsonout *j, const struct caller_op *c)
{
	size_t i;

	jsonout_begin(j, NULL, "{");
	jsonout_text(j, "do", op_kind_names[c->kind]);
	jsonout_text(j, "lease", c->lease);
	jsonout_text(j, "file", c->file);
	jsonout_text(j, "id", c->id);
	jsonout_text(j, "gate", c->devcgroup);
	jsonout_list(j, "cgroups", &c->cgroups);
	jsonout_begin(j, "nodes", "[");
	for (i = 0; i < c->nodes; i++) {
		jsonout_begin(j, NULL, "[");
		jsonout_int(j, NULL, c->node[i].major);
		jsonout_int(j, NULL, c->node[i].minor);
		jsonout_bool(j, NULL, c->node[i].allowed);
		jsonout_end(j, "]");
	}
	jsonout_end(j, "]");
	write_process_id(j, "init", &c->init);
	write_process_id(j, "by", &c->by);
	jsonout_end(j, "}");
}

void
caller_ops_write(struct jsonout *j, const char *key, const struct caller_ops *c)
{
	size_t i;

	jsonout_begin(j, key, "[");
	for (i = 0; i < c->n; i++)
		write_one(j, &c->v[i]);
	jsonout_end(j, "]");
}
