/* See chore.h. */
#include "chore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pausing.h"

static const char *const kinds[] = { "shut", "open", "clear", "stop" };

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
	j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "do", kinds[c->kind], "lease", c->lease,
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

static bool
read_number(const json_t *j, uint32_t *out)
{
	json_int_t v = json_integer_value(j);

	*out = (uint32_t)v;
	return json_is_integer(j) && v >= 0 && v <= UINT32_MAX;
}

static bool
read_process(const json_t *j, struct process_id *out)
{
	const char *start = json_string_value(json_array_get(j, 1));
	uint32_t pid;

	if (json_array_size(j) != 2 || !read_number(json_array_get(j, 0), &pid) || pid > INT32_MAX || start == NULL ||
	    !text_u64(start, UINT64_MAX, &out->start))
		return false;
	out->pid = (pid_t)pid;
	return true;
}

static bool
read_copy(const json_t *j, const char *key, char **out)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL && (*out = strdup(s)) != NULL;
}

static bool
read_lists(const json_t *j, struct chore *c)
{
	const json_t *cgroups = json_object_get(j, "cgroups"), *nodes = json_object_get(j, "nodes"), *item;
	uint32_t major, minor;
	size_t i;

	json_array_foreach(cgroups, i, item)
		if (!json_is_string(item) || !strlist_add(&c->cgroups, json_string_value(item), SIZE_MAX))
			return false;
	json_array_foreach(nodes, i, item)
		if (json_array_size(item) != 2 || !read_number(json_array_get(item, 0), &major) ||
		    !read_number(json_array_get(item, 1), &minor) || !chore_add_node(c, major, minor))
			return false;
	return json_is_array(cgroups) && json_is_array(nodes);
}

static bool
read_one(const json_t *j, struct chore *c)
{
	const char *kind = json_string_value(json_object_get(j, "do"));
	const char *lease = json_string_value(json_object_get(j, "lease"));
	size_t i;

	for (i = 0; kind != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i]) == 0)
			break;
	if (kind == NULL || i == sizeof(kinds) / sizeof(kinds[0]) || lease == NULL || strlen(lease) >= sizeof(c->lease) ||
	    !read_process(json_object_get(j, "init"), &c->init) || !read_process(json_object_get(j, "by"), &c->by))
		return false;
	c->kind = (enum chore_kind)i;
	snprintf(c->lease, sizeof(c->lease), "%s", lease);
	return read_copy(j, "file", &c->file) && read_copy(j, "id", &c->id) && read_copy(j, "gate", &c->gate) &&
	    read_lists(j, c);
}

bool
chores_unpack(const json_t *j, struct chores *c)
{
	const json_t *item;
	struct chore *one;
	size_t i;

	*c = (struct chores){ 0 };
	json_array_foreach(j, i, item)
		if ((one = chores_add(c)) == NULL || !read_one(item, one))
			return false;
	return json_is_array(j);
}
