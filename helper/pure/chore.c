/* See chore.h. */
#include "chore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pausing.h"

const char *const chore_kind_names[CHORE_KINDS] = { "shut", "open", "clear", "stop" };

struct chore *
chores_add(struct chores *c)
{
	struct chore *v = reallocarray(c->v, c->n + 1, sizeof(*v));

	if (v == NULL)
		return NULL;
	c->v = v;
	v[c->n] = (struct chore){ 0 };
	return &v[c->n++];
}

bool
chore_add_node(struct chore *c, uint32_t major, uint32_t minor)
{
	struct devnum *v = reallocarray(c->node, c->nodes + 1, sizeof(*v));

	if (v == NULL)
		return false;
	c->node = v;
	v[c->nodes++] = (struct devnum){ major, minor };
	return true;
}

void
chores_free(struct chores *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		free(c->v[i].file);
		free(c->v[i].id);
		free(c->v[i].gate);
		free(c->v[i].node);
		strlist_free(&c->v[i].cgroups);
	}
	free(c->v);
	*c = (struct chores){ 0 };
}

/* Numbers of 64 bits are text: JSON's may not hold them. */
static json_t *
pack_process(const struct process_id *p)
{
	char start[24];

	snprintf(start, sizeof(start), "%llu", (unsigned long long)p->start);
	return json_pack("[I, s]", (json_int_t)p->pid, start);
}

static json_t *
pack_one(const struct chore *c)
{
	json_t *cgroups = json_array(), *nodes = json_array();
	bool whole = true;
	json_t *j;
	size_t i;

	for (i = 0; i < c->cgroups.n; i++)
		whole = json_array_append_new(cgroups, json_string(c->cgroups.v[i])) == 0 && whole;
	for (i = 0; i < c->nodes; i++)
		whole = json_array_append_new(nodes, json_pack("[I,I]", (json_int_t)c->node[i].major,
		    (json_int_t)c->node[i].minor)) == 0 && whole;
	j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "do", chore_kind_names[c->kind], "lease", c->lease,
	    "file", c->file, "id", c->id, "gate", c->gate, "cgroups", cgroups, "nodes", nodes,
	    "init", pack_process(&c->init), "by", pack_process(&c->by));
	if (!whole) {
		json_decref(j);
		j = NULL;
	}
	return j;
}

json_t *
chores_pack(const struct chores *c)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < c->n; i++)
		if (json_array_append_new(list, pack_one(&c->v[i])) == -1) {
			json_decref(list);
			return NULL;
		}
	return list;
}
