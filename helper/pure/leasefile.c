/* See leasefile.h. */
#include "leasefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strictjson.h"
#include "text.h"

/*
 * 1 knew neither acts nor draining, nor how nodes were; 2 knew nothing of the container's first process, nor of
 * tasks.  Their containers may outlive an upgrade.
 */
#define VERSION 3

void
lease_free(struct lease *l)
{
	size_t i;

	free(l->id);
	free(l->root);
	free(l->policy);
	free(l->pipeline);
	free(l->gpu);
	free(l->node);
	free(l->user);
	free(l->act);
	for (i = 0; i < l->folders; i++)
		held_folder_free(&l->folder[i]);
	for (i = 0; i < l->ways; i++)
		way_free(&l->way[i]);
	free(l->way);
	free(l->folder);
	strlist_free(&l->cgroups);
	pausing_free(&l->pausing);
	*l = (struct lease){ 0 };
}

void
lease_describe(const struct lease *l, char out[LEASE_LINE_MAX])
{
	autobuf struct buf b = { 0 };
	bool alone = true;
	size_t i;

	buf_puts(&b, l->gpus == 1 ? "GPU " : "GPUs ");
	for (i = 0; i < l->gpus; i++) {
		buf_printf(&b, "%s%s%s%s", i > 0 ? ", " : "", l->gpu[i].pci, l->gpu[i].part[0] != '\0' ? " part " : "",
		    l->gpu[i].part);
		alone = alone && l->gpu[i].exclusive;
	}
	buf_puts(&b, alone ? " (exclusive)" : " (shared)");
	if (l->pausing.waited > 0)
		buf_printf(&b, ", waited %u s", l->pausing.waited);
	snprintf(out, LEASE_LINE_MAX, "%s", b.failed ? "" : b.p);
}

bool
lease_is_given_back(const struct lease *l)
{
	return l->state == LEASE_GIVEN_BACK;
}

bool
lease_holds(const struct lease *l)
{
	return !lease_is_given_back(l) || l->reopened;
}

bool
lease_writes_as_root(const struct lease *l)
{
	size_t i;

	for (i = 0; l->host_root && i < l->ways; i++)
		if (l->way[i].writable)
			return true;
	return false;
}

bool
lease_has_way(const struct lease *l, const struct way *w)
{
	size_t i;

	for (i = 0; i < l->ways; i++)
		if (way_same(&l->way[i], w))
			return true;
	return false;
}

void
lease_keep_ways(struct lease *l)
{
	size_t i;

	for (i = 0; i < l->folders; i++)
		held_folder_free(&l->folder[i]);
	strlist_free(&l->cgroups);
	pausing_free(&l->pausing);
	l->folders = l->gpus = l->nodes = l->users = 0;
	l->label[0] = '\0';
	l->pauses = l->planned = false;
	l->mounts = 0;
	l->state = LEASE_PASSED_ON;
}

bool
act_same_node(const struct act *a, const struct act *b)
{
	return a->major == b->major && a->minor == b->minor && strcmp(a->path, b->path) == 0;
}

bool
act_same(const struct act *a, const struct act *b)
{
	if (a->kind != b->kind || !act_same_node(a, b))
		return false;
	return a->kind == ACT_LABEL ? strcmp(a->label, b->label) == 0 :
	    a->kind == ACT_MAKE_NODE ? a->inode == b->inode : a->id == b->id;
}

bool
lease_add_act(struct lease *l, const struct act *a)
{
	struct act *v;
	size_t i;

	for (i = 0; i < l->acts; i++)
		if (act_same(&l->act[i], a))
			return true;
	if ((v = reallocarray(l->act, l->acts + 1, sizeof(*v))) == NULL)
		return false;
	l->act = v;
	v[l->acts++] = *a;
	return true;
}

bool
lease_add_folder(struct lease *l, struct held_folder *f)
{
	struct held_folder *v = reallocarray(l->folder, l->folders + 1, sizeof(*v));

	if (v == NULL) {
		held_folder_free(f);
		return false;
	}
	l->folder = v;
	v[l->folders++] = *f;
	return true;
}

bool
lease_add_way(struct lease *l, struct way *w)
{
	struct way *v = reallocarray(l->way, l->ways + 1, sizeof(*v));

	if (v == NULL) {
		way_free(w);
		return false;
	}
	l->way = v;
	v[l->ways++] = *w;
	return true;
}

/* Numbers of 64 bits are written as text: JSON's may not hold them. */
static json_t *
pack_u64(uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	return json_string(text);
}

static json_t *
pack_node(const struct edit_node *n)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "path", n->path, "major", (json_int_t)n->major,
	    "minor", (json_int_t)n->minor, "mode", (json_int_t)n->mode, "uid", (json_int_t)n->uid,
	    "gid", (json_int_t)n->gid);
}

static const char *const act_names[] = { "allow-user", "allow-group", "make-node", "label" };

static json_t *
pack_act(const struct act *a)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:i, s:o, s:s*, s:s*}", "act", act_names[a->kind], "path", a->path,
	    "major", (json_int_t)a->major, "minor", (json_int_t)a->minor, "id", (json_int_t)a->id, "mask", a->mask,
	    "inode", pack_u64(a->inode), "label", a->kind == ACT_LABEL ? a->label : NULL,
	    "was", a->kind == ACT_LABEL ? a->was : NULL);
}

char *
lease_encode(const struct lease *l)
{
	json_t *gpus, *nodes, *cgroups, *users, *acts, *folders, *ways, *pausing = NULL, *j;
	bool whole = true;
	size_t i;

	strictjson_watch();
	gpus = json_array();
	nodes = json_array();
	cgroups = json_array();
	users = json_array();
	acts = json_array();
	folders = json_array();
	ways = json_array();
	for (i = 0; i < l->gpus; i++)
		json_array_append_new(gpus, held_gpu_pack(&l->gpu[i]));
	for (i = 0; i < l->nodes; i++)
		json_array_append_new(nodes, pack_node(&l->node[i]));
	for (i = 0; i < l->cgroups.n; i++)
		json_array_append_new(cgroups, json_string(l->cgroups.v[i]));
	for (i = 0; i < l->users; i++)
		json_array_append_new(users, json_pack("[I,I]", (json_int_t)l->user[i].first, (json_int_t)l->user[i].size));
	for (i = 0; i < l->acts; i++)
		json_array_append_new(acts, pack_act(&l->act[i]));
	for (i = 0; i < l->folders; i++)
		whole = json_array_append_new(folders, held_folder_pack(&l->folder[i])) == 0 && whole;
	for (i = 0; i < l->ways; i++)
		whole = json_array_append_new(ways, way_pack(&l->way[i])) == 0 && whole;
	if (l->pauses && (pausing = pausing_pack(&l->pausing)) == NULL)
		whole = false;
	j = json_pack("{s:i, s:s, s:s, s:I, s:I, s:o, s:I, s:o, s:s, s:I, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, "
	    "s:s, s:o*, s:o*, s:s*, s:o, s:o, s:b, s:b, s:b}",
	    "version", VERSION, "id", l->id, "root", l->root, "uid", (json_int_t)l->uid, "pid", (json_int_t)l->asker.pid,
	    "start", pack_u64(l->asker.start), "init", (json_int_t)l->init.pid, "init_start", pack_u64(l->init.start),
	    "boot", l->boot, "since", (json_int_t)l->since, "policy", l->policy,
	    "pipeline", l->pipeline, "cgroups", cgroups, "gpus", gpus, "nodes", nodes, "users", users, "acts", acts,
	    "folders", folders, "host_root", l->host_root, "ways", ways, "state", lease_state_name(l->state),
	    "pausing", pausing, "planned", l->planned ? json_true() : NULL,
	    "label", l->label[0] != '\0' ? l->label : NULL, "pids", pack_u64(l->pids), "mounts", pack_u64(l->mounts),
	    "own_pids", l->own_pids, "privileged", l->privileged, "hooked", l->hooked);
	if (!whole) {
		json_decref(j);
		j = NULL;
	}
	return strictjson_text(j);
}

/* Reading.  Every function returns false for what the one above would not have written. */

static bool
get_u32(const json_t *j, const char *key, uint32_t *out)
{
	const json_t *n = json_object_get(j, key);
	json_int_t v = json_integer_value(n);

	*out = (uint32_t)v;
	return json_is_integer(n) && v >= 0 && v <= UINT32_MAX;
}

static bool
get_u64(const json_t *j, const char *key, uint64_t *out)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL && text_u64(s, UINT64_MAX, out);
}

static bool
get_text(const json_t *j, const char *key, char *out, size_t size)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL && (size_t)snprintf(out, size, "%s", s) < size;
}

static bool
get_copy(const json_t *j, const char *key, char **out)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL && (*out = strdup(s)) != NULL;
}

static bool
read_gpu(const json_t *j, struct lease *l)
{
	struct held_gpu *v = reallocarray(l->gpu, l->gpus + 1, sizeof(*v));

	if (v == NULL)
		return false;
	l->gpu = v;
	return held_gpu_unpack(j, &v[l->gpus++]) == 0;
}

static bool
read_node(const json_t *j, struct lease *l)
{
	struct edit_node *v = reallocarray(l->node, l->nodes + 1, sizeof(*v)), *n;

	if (v == NULL)
		return false;
	l->node = v;
	n = &v[l->nodes++];
	*n = (struct edit_node){ .mode = LEASE_MODE_UNKNOWN };
	if (!get_text(j, "path", n->path, sizeof(n->path)) || !get_u32(j, "major", &n->major) ||
	    !get_u32(j, "minor", &n->minor))
		return false;
	return json_object_get(j, "mode") == NULL || (get_u32(j, "mode", &n->mode) && get_u32(j, "uid", &n->uid) &&
	    get_u32(j, "gid", &n->gid));
}

static bool
read_user(const json_t *j, struct lease *l)
{
	struct idspan *v = reallocarray(l->user, l->users + 1, sizeof(*v));
	const json_t *first = json_array_get(j, 0), *size = json_array_get(j, 1);

	if (v == NULL)
		return false;
	l->user = v;
	v[l->users++] = (struct idspan){ (uint32_t)json_integer_value(first), (uint32_t)json_integer_value(size) };
	return json_array_size(j) == 2 && json_is_integer(first) && json_is_integer(size);
}

static bool
read_act(const json_t *j, struct lease *l)
{
	const json_t *mask = json_object_get(j, "mask");
	struct act a = { .mask = (int)json_integer_value(mask) };
	char name[16];
	size_t k;

	if (!get_text(j, "act", name, sizeof(name)) || !get_text(j, "path", a.path, sizeof(a.path)) ||
	    !get_u32(j, "major", &a.major) || !get_u32(j, "minor", &a.minor) || !get_u32(j, "id", &a.id) ||
	    !get_u64(j, "inode", &a.inode) || !json_is_integer(mask) || a.mask < ACT_NO_MASK || a.mask > 7)
		return false;
	for (k = 0; k < sizeof(act_names) / sizeof(act_names[0]); k++)
		if (strcmp(name, act_names[k]) == 0) {
			a.kind = (enum act_kind)k;
			return (a.kind != ACT_LABEL || (get_text(j, "label", a.label, sizeof(a.label)) &&
			    get_text(j, "was", a.was, sizeof(a.was)))) && lease_add_act(l, &a);
		}
	return false;
}

static bool
read_folder(const json_t *j, struct lease *l)
{
	struct held_folder f;

	return held_folder_unpack(j, &f) && lease_add_folder(l, &f);
}

static bool
read_list(const json_t *j, const char *key, bool (*read)(const json_t *, struct lease *), struct lease *l)
{
	const json_t *list = json_object_get(j, key), *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (!read(item, l))
			return false;
	return json_is_array(list);
}

static bool
read_cgroup(const json_t *j, struct lease *l)
{
	return json_is_string(j) && strlist_add(&l->cgroups, json_string_value(j), SIZE_MAX);
}

static bool
get_process(const json_t *j, const char *pid, const char *start, struct process_id *out)
{
	uint32_t n;

	if (!get_u32(j, pid, &n) || n > INT32_MAX || !get_u64(j, start, &out->start))
		return false;
	out->pid = (pid_t)n;
	return true;
}

static bool
read_way(const json_t *j, struct lease *l)
{
	struct way w;

	return way_unpack(j, &w) && lease_add_way(l, &w);
}

static bool
read_ways(const json_t *j, struct lease *l)
{
	const json_t *host_root = json_object_get(j, "host_root");

	l->host_root = json_is_true(host_root);
	return json_is_boolean(host_root) && read_list(j, "ways", read_way, l);
}

/* Where its processes are; one that was written before an upgrade does not know. */
static bool
read_place(const json_t *j, struct lease *l)
{
	if (json_object_get(j, "pids") == NULL)
		return true;
	l->own_pids = json_is_true(json_object_get(j, "own_pids"));
	l->privileged = json_is_true(json_object_get(j, "privileged"));
	l->hooked = json_is_true(json_object_get(j, "hooked"));
	return get_u64(j, "pids", &l->pids) && get_u64(j, "mounts", &l->mounts) &&
	    json_is_boolean(json_object_get(j, "own_pids")) && json_is_boolean(json_object_get(j, "privileged"));
}

/* Of version 2. */
static bool
read_draining(const json_t *j, struct lease *l)
{
	const json_t *draining = json_object_get(j, "draining");

	l->state = json_is_true(draining) ? LEASE_DRAINING : LEASE_HELD;
	return json_is_boolean(draining);
}

static bool
read_state(const json_t *j, struct lease *l)
{
	const char *state = json_string_value(json_object_get(j, "state"));
	const json_t *pausing = json_object_get(j, "pausing"), *planned = json_object_get(j, "planned");

	if (state == NULL || !lease_state_named(state, &l->state) || !get_process(j, "init", "init_start", &l->init))
		return false;
	l->planned = planned != NULL;
	if (planned != NULL && !json_is_true(planned))
		return false;
	l->pauses = pausing != NULL;
	return !l->pauses || pausing_unpack(pausing, &l->pausing);
}

static bool
read_lease(const json_t *j, struct lease *l)
{
	const json_int_t version = json_integer_value(json_object_get(j, "version"));

	if (version < 1 || version > VERSION || !get_process(j, "pid", "start", &l->asker) ||
	    (version == 2 && !read_draining(j, l)) || (version == VERSION && !read_state(j, l)) ||
	    !get_u32(j, "uid", &l->uid) || !get_text(j, "boot", l->boot, sizeof(l->boot)) || !get_copy(j, "id", &l->id) ||
	    !get_copy(j, "root", &l->root) || !get_copy(j, "policy", &l->policy) ||
	    !get_copy(j, "pipeline", &l->pipeline))
		return false;
	l->since = json_integer_value(json_object_get(j, "since"));
	if (json_object_get(j, "label") != NULL && !get_text(j, "label", l->label, sizeof(l->label)))
		return false;
	return read_list(j, "cgroups", read_cgroup, l) && read_list(j, "gpus", read_gpu, l) &&
	    read_list(j, "nodes", read_node, l) && read_list(j, "users", read_user, l) &&
	    (version == 1 || read_list(j, "acts", read_act, l)) &&
	    /* one that was written before an upgrade has none */
	    (json_object_get(j, "folders") == NULL || read_list(j, "folders", read_folder, l)) &&
	    (version < VERSION || (read_ways(j, l) && read_place(j, l)));
}

int
lease_decode(const char *text, size_t len, struct lease *l, struct why *why)
{
	json_t *j = strictjson_object(text, len, why);
	char key[sizeof(l->key)], name[sizeof(l->name)];
	bool ok;

	memcpy(key, l->key, sizeof(key));
	memcpy(name, l->name, sizeof(name));
	*l = (struct lease){ 0 };
	if (j == NULL)
		return -1;
	ok = read_lease(j, l);
	json_decref(j);
	if (!ok) {
		lease_free(l);
		refuse(why, WHY_CONFIG, "no lease of this version");
	}
	memcpy(l->key, key, sizeof(key));
	memcpy(l->name, name, sizeof(name));
	return ok ? 0 : -1;
}

bool
lease_wants(const struct lease *l, const struct chore *c)
{
	size_t i;

	if (!l->pauses)
		return false;
	if (c->kind != CHORE_OPEN)
		/* one that nobody has marked takes back what nobody is to have */
		return l->state == (c->by.pid != 0 ? LEASE_GIVING_BACK : LEASE_GIVEN_BACK) &&
		    (c->by.pid == 0 || process_id_same(&l->pausing.giver, &c->by));
	for (i = 0; i < l->pausing.execs; i++)
		if (process_id_same(&l->pausing.exec[i], &c->by))
			return l->state == LEASE_HELD;
	return false;
}
