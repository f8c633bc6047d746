/* See leasefile.h. */
#include "leasefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/lines.h"

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
	free(l->container.user);
	for (i = 0; i < l->folders; i++)
		leased_folder_free(&l->folder[i]);
	for (i = 0; i < l->lookups; i++)
		lookup_free(&l->lookup[i]);
	free(l->lookup);
	free(l->folder);
	strlist_free(&l->container.cgroups);
	lease_tasks_free(&l->tasks);
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
	if (l->tasks.waited > 0)
		buf_printf(&b, ", waited %u s", l->tasks.waited);
	snprintf(out, LEASE_LINE_MAX, "%s", b.failed ? "" : b.p);
}

bool
lease_only_promises(const struct lease *l)
{
	return l->state == LEASE_PROMISED;
}

struct holding
lease_holding(const struct lease *l)
{
	return l->scan.has_access ? (struct holding){ l->tasks.promised_gpu, l->tasks.promised_gpus } :
	    (struct holding){ l->gpu, l->gpus };
}

void
lease_forget_gpus(struct lease *l)
{
	free(l->gpu);
	free(l->node);
	l->gpu = NULL;
	l->node = NULL;
	l->gpus = l->nodes = 0;
}

bool
lease_writes_as_root(const struct lease *l)
{
	size_t i;

	for (i = 0; l->container.host_root && i < l->lookups; i++)
		if (l->lookup[i].writable)
			return true;
	return false;
}

bool
lease_has_lookup(const struct lease *l, const struct lookup *w)
{
	size_t i;

	for (i = 0; i < l->lookups; i++)
		if (lookup_same(&l->lookup[i], w))
			return true;
	return false;
}

void
lease_keep_lookups(struct lease *l)
{
	size_t i;

	for (i = 0; i < l->folders; i++)
		leased_folder_free(&l->folder[i]);
	strlist_free(&l->container.cgroups);
	lease_tasks_free(&l->tasks);
	l->folders = l->gpus = l->nodes = l->container.users = 0;
	l->label[0] = l->reuse_hash[0] = '\0';
	l->gpus_by_task = l->planned = l->unscanned = false;
	l->container.mnt_ns = 0;
	l->state = LEASE_LEAKED;
}

bool
lease_add_folder(struct lease *l, struct leased_folder *f)
{
	struct leased_folder *v = reallocarray(l->folder, l->folders + 1, sizeof(*v));

	if (v == NULL) {
		leased_folder_free(f);
		return false;
	}
	l->folder = v;
	v[l->folders++] = *f;
	*f = (struct leased_folder){ 0 };
	return true;
}

bool
lease_add_lookup(struct lease *l, struct lookup *w)
{
	struct lookup *v = reallocarray(l->lookup, l->lookups + 1, sizeof(*v));

	if (v == NULL) {
		lookup_free(w);
		return false;
	}
	l->lookup = v;
	v[l->lookups++] = *w;
	*w = (struct lookup){ 0 };
	return true;
}

/* Lines. */

static void
lease_head_lines(struct lines *s, struct lease *l)
{
	uint32_t version = LEASE_VERSION;

	lines_begin(s, "lease");
	field_u32(s, &version);
	if (version != LEASE_VERSION)
		s->failed = true;
	lines_begin(s, "container");
	field_copy(s, &l->id);
	field_copy(s, &l->root);
	field_u32(s, &l->uid);
	lines_begin(s, "granted");
	field_copy(s, &l->policy);
	field_copy(s, &l->pipeline);
	field_i64(s, &l->since);
	lines_begin(s, "state");
	l->state = lease_state_word(s, l->state);
	field_bool(s, &l->planned);
}

/* Lines that a lease need not have: those of earlier versions have none. */
static void
further_lines(struct lines *s, struct lease *l)
{
	if (lines_more(s, "turn", l->reuse_hash[0] != '\0'))
		field_text(s, l->reuse_hash, sizeof(l->reuse_hash));
	if (lines_more(s, "unscanned", l->unscanned))
		field_bool(s, &l->unscanned);
}

/* The lease's processes and namespaces. */
static void
process_lines(struct lines *s, struct lease *l)
{
	lines_begin(s, "boot");
	field_text(s, l->boot, sizeof(l->boot));
	lines_begin(s, "asker");
	process_id_fields(s, &l->asker);
	lines_begin(s, "init");
	process_id_fields(s, &l->container.init);
	lines_begin(s, "namespaces");
	field_u64(s, &l->container.pid_ns);
	field_bool(s, &l->container.own_pids);
	field_u64(s, &l->container.mnt_ns);
	lines_begin(s, "rights");
	field_bool(s, &l->container.privileged);
	field_bool(s, &l->container.hooked);
	field_bool(s, &l->container.host_root);
	lines_begin(s, "label");
	field_text(s, l->label, sizeof(l->label));
}

static void
node_fields(struct lines *s, void *member)
{
	struct edit_node *n = member;

	field_text(s, n->path, sizeof(n->path));
	field_u32(s, &n->major);
	field_u32(s, &n->minor);
	field_u32(s, &n->mode);
	field_u32(s, &n->uid);
	field_u32(s, &n->gid);
}

static void
user_fields(struct lines *s, void *member)
{
	struct idspan *u = member;

	field_u32(s, &u->first);
	field_u32(s, &u->size);
}

static bool
lease_lines(struct lines *s, struct lease *l)
{
	lease_head_lines(s, l);
	further_lines(s, l);
	process_lines(s, l);
	lines_texts(s, "cgroup", &l->container.cgroups);
	lines_members(s, "gpu", (void **)&l->gpu, &l->gpus, SIZE_MAX, sizeof(*l->gpu), leased_gpu_fields);
	lines_members(s, "node", (void **)&l->node, &l->nodes, SIZE_MAX, sizeof(*l->node), node_fields);
	lines_members(s, "user", (void **)&l->container.user, &l->container.users, SIZE_MAX,
	    sizeof(*l->container.user), user_fields);
	lines_members(s, "folder", (void **)&l->folder, &l->folders, SIZE_MAX, sizeof(*l->folder), leased_folder_fields);
	lines_members(s, "way", (void **)&l->lookup, &l->lookups, SIZE_MAX, sizeof(*l->lookup), lookup_fields);
	lines_begin(s, "tasks");
	field_bool(s, &l->gpus_by_task);
	if (l->gpus_by_task)
		lease_tasks_lines(s, &l->tasks);
	return lines_finish(s);
}

char *
lease_encode(const struct lease *l)
{
	struct lease same = *l;		/* writing changes nothing in it: lines.h */
	struct buf text = { 0 };

	if (lease_lines(&(struct lines){ .out = &text }, &same))
		return buf_take(&text);
	buf_free(&text);
	return NULL;
}

int
lease_decode(const char *text, size_t len, struct lease *l, struct why *why)
{
	struct lines s = { .at = text, .end = text + len };
	struct lease read = { 0 };
	const bool good = lease_lines(&s, &read);

	if (!good)
		lease_free(&read);
	memcpy(read.key, l->key, sizeof(read.key));
	memcpy(read.name, l->name, sizeof(read.name));
	*l = read;
	return good ? 0 : s.nomem ? refuse_nomem(why) : refuse(why, WHY_CONFIG, "no lease of this version");
}

int
lease_copy(const struct lease *from, struct lease *to, struct why *why)
{
	autofree char *text = lease_encode(from);
	int ret = text == NULL ? refuse_nomem(why) : lease_decode(text, strlen(text), to, why);

	memcpy(to->key, from->key, sizeof(to->key));
	memcpy(to->name, from->name, sizeof(to->name));
	return ret;
}

bool
lease_promises(const struct lease *l, const struct inventory *inv, const struct gpu *g)
{
	struct leased_gpu is = { .vendor = g->vendor };
	size_t i;

	snprintf(is.pci, sizeof(is.pci), "%s", g->pci);
	gpu_part(inv, g, is.part);
	for (i = 0; i < l->tasks.promised_gpus; i++)
		if (leased_gpu_same(&l->tasks.promised_gpu[i], &is))
			return true;
	return false;
}

bool
lease_has_promised_nodes(const struct lease *l)
{
	size_t i, k;

	for (i = 0; i < l->nodes; i++) {
		for (k = 0; k < l->tasks.nodes; k++)
			if (l->node[i].major == l->tasks.node[k].major && l->node[i].minor == l->tasks.node[k].minor)
				break;
		if (k == l->tasks.nodes)
			return false;
	}
	return true;
}
