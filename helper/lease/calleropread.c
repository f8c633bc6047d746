/* See calleropread.h. Accepts only what caller_ops_write() writes. */
#include "calleropread.h"

#include <stdio.h>
#include <string.h>

static bool
read_pid(const json_t *j, uint32_t *out)
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

	if (json_array_size(j) != 2 || !read_pid(json_array_get(j, 0), &pid) || pid > INT32_MAX || start == NULL ||
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
read_lists(const json_t *j, struct caller_op *c)
{
	const json_t *cgroups = json_object_get(j, "cgroups"), *nodes = json_object_get(j, "nodes"), *item;
	struct promised_node n;
	size_t i;

	json_array_foreach(cgroups, i, item)
		if (!json_is_string(item) || !strlist_add(&c->cgroups, json_string_value(item), SIZE_MAX))
			return false;
	json_array_foreach(nodes, i, item) {
		n.allowed = json_is_true(json_array_get(item, 2));
		if (json_array_size(item) != 3 || !json_is_boolean(json_array_get(item, 2)) ||
		    !read_pid(json_array_get(item, 0), &n.major) || !read_pid(json_array_get(item, 1), &n.minor) ||
		    !caller_op_add_node(c, &n))
			return false;
	}
	return json_is_array(cgroups) && json_is_array(nodes);
}

static bool
read_op(const json_t *j, struct caller_op *c)
{
	const char *kind = json_string_value(json_object_get(j, "do"));
	const char *lease = json_string_value(json_object_get(j, "lease"));
	size_t i;

	for (i = 0; kind != NULL && i < OP_KINDS; i++)
		if (strcmp(kind, op_kind_names[i]) == 0)
			break;
	if (kind == NULL || i == OP_KINDS || lease == NULL || strlen(lease) >= sizeof(c->lease) ||
	    !read_process(json_object_get(j, "init"), &c->init) || !read_process(json_object_get(j, "by"), &c->by))
		return false;
	c->kind = (enum op_kind)i;
	snprintf(c->lease, sizeof(c->lease), "%s", lease);
	return read_copy(j, "file", &c->file) && read_copy(j, "id", &c->id) && read_copy(j, "gate", &c->devcgroup) &&
	    read_lists(j, c);
}

bool
caller_ops_unpack(const json_t *j, struct caller_ops *c)
{
	const json_t *item;
	struct caller_op *one;
	size_t i;

	*c = (struct caller_ops){ 0 };
	json_array_foreach(j, i, item)
		if ((one = caller_ops_add(c)) == NULL || !read_op(item, one))
			return false;
	return json_is_array(j);
}
