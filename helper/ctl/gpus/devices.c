/*
 * gpuhelperctl devices: lists the GPUs as the helper finds them, and the state of their nodes.  Opens no device node:
 * opening one can have side effects in its driver.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../../base/text.h"
#include "../../host/driver/cdigpus.h"
#include "../../host/gpu/udev.h"
#include "../../read/parse.h"
#include "../configload.h"
#include "../ctl.h"
#include "gpustate.h"

/* The state of the node at a path; «text» describes it for people. */
struct seen {
	const char *state;	/* "ok", "absent", "wrong", "no module", "unknown" */
	char text[160];
};

static void
look_at_node(const struct inventory *inv, const struct gpu_node *n, struct seen *s)
{
	const bool made = text_starts(n->path, "/dev/nvidia") && inv->nvidia_modify;
	struct stat st;
	const int error = lstat(n->path, &st) == -1 ? errno : 0;
	struct why why;

	*s = (struct seen){ .state = "ok" };
	if (gpu_node_check(n, &why) == -1) {
		s->state = "no module";
		snprintf(s->text, sizeof(s->text), "%.150s", why.text + strlen(n->path) + 2);
	} else if (error != 0 && error != ENOENT) {
		s->state = "unknown";
		snprintf(s->text, sizeof(s->text), "%s", strerror(error));
	} else if (error == ENOENT) {
		s->state = "absent";
		snprintf(s->text, sizeof(s->text), "does not exist%s", n->optional ? " (optional: containers go without)" :
		    made ? " (gpuhelper creates it when it grants the GPU)" : "");
	} else if (!S_ISCHR(st.st_mode)) {
		s->state = "wrong";
		snprintf(s->text, sizeof(s->text), "is not a character device");
	} else if (major(st.st_rdev) != n->major || minor(st.st_rdev) != n->minor) {
		s->state = "wrong";
		snprintf(s->text, sizeof(s->text), "has the wrong number %u:%u: remove it, and the driver creates the right node",
		    major(st.st_rdev), minor(st.st_rdev));
	} else
		snprintf(s->text, sizeof(s->text), "ok, mode %04o, owner %u:%u", st.st_mode & 07777U, st.st_uid, st.st_gid);
}

static json_t *
node_json(const struct inventory *inv, const struct gpu_node *n)
{
	json_t *j = json_object();
	struct seen s;

	look_at_node(inv, n, &s);
	put_text(j, "path", n->path);
	if (n->major != GPU_NODE_NO_MODULE) {
		json_object_set_new(j, "major", json_integer(n->major));
		json_object_set_new(j, "minor", json_integer(n->minor));
	}
	json_object_set_new(j, "optional", json_boolean(n->optional));
	if (n->needed_for != 0)
		json_object_set_new(j, "needed_for", capability_names(n->needed_for));
	put_text(j, "state", s.state);
	put_text(j, "text", s.text);
	return j;
}

static json_t *
nodes_json(const struct inventory *inv, const struct gpu_node *n, size_t count)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(list, node_json(inv, &n[i]));
	return list;
}

/* What joins two GPUs closest; GPU_JOINS: nothing. A GPU and its parts are not joined. */
static enum gpu_join
joined_by(const struct gpu *a, const struct gpu *b)
{
	unsigned by;

	if (a->vendor != b->vendor || strcmp(a->pci, b->pci) == 0)
		return GPU_JOINS;
	for (by = 0; by < GPU_JOINS && (a->joined[by] == 0 || a->joined[by] != b->joined[by]); by++)
		;
	return (enum gpu_join)by;
}

static const char *
join_name(const struct gpu *g, enum gpu_join by)
{
	if (by == GPU_JOIN_LINK)
		return g->vendor == GPU_AMD ? "XGMI" : "NVLink";
	return by == GPU_JOIN_SWITCH ? "PCI switch" : "outer PCI switch";
}

/* The addresses of the GPUs that this way of joining joins closest to g, in the order of the inventory. */
static json_t *
joined_gpus(const struct inventory *inv, const struct gpu *g, enum gpu_join by)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (joined_by(g, &inv->gpu[i]) == by && inv->gpu[i].part[0] == '\0' && inv->gpu[i].partition == 0)
			json_array_append_new(list, json_string(inv->gpu[i].pci));
	return list;
}

static json_t *
joined_json(const struct inventory *inv, const struct gpu *g)
{
	json_t *all = json_array(), *gpus;
	unsigned by;

	for (by = 0; by < GPU_JOINS; by++) {
		gpus = joined_gpus(inv, g, (enum gpu_join)by);
		if (json_array_size(gpus) > 0)
			json_array_append_new(all, json_pack("{s:s, s:O}", "by", join_name(g, (enum gpu_join)by), "pci", gpus));
		json_decref(gpus);
	}
	return all;
}

static json_t *
gpu_json(const struct inventory *inv, const struct gpu *g, const struct settings *settings,
    const struct drained *drained)
{
	json_t *j = json_object();
	char part[16];

	put_text(j, "vendor", gpu_vendor_name(g->vendor));
	if (g->unusable[0] == '\0')
		json_object_set_new(j, "rank", json_integer(g->rank));
	put_text(j, "pci", g->pci);
	gpu_part(inv, g, part);
	put_text(j, "part", part);
	if (g->has_instances)
		json_object_set_new(j, "mig", json_true());
	if (g->uuid[0] != '\0')
		put_text(j, "uuid", g->uuid);
	put_text(j, "model", g->model);
	json_object_set_new(j, "integrated", json_boolean(g->integrated));
	put_text(j, "unusable", gpu_never_given(g, settings));
	gpu_put_drained(j, drained, inv, g);
	if (g->cdi.n > 0)
		json_object_set_new(j, "cdi", strings_json(&g->cdi));
	json_object_set_new(j, "joined", joined_json(inv, g));
	json_object_set_new(j, "nodes", nodes_json(inv, g->node, g->nodes));
	return j;
}

static void
print_devices_json(const struct inventory *inv, const struct settings *settings, const struct drained *drained)
{
	json_t *gpus = json_array(), *common = json_object(), *absent = json_object();
	size_t i, v;

	for (i = 0; i < inv->gpus; i++)
		json_array_append_new(gpus, gpu_json(inv, &inv->gpu[i], settings, drained));
	for (v = 0; v < GPU_VENDORS; v++) {
		if (inv->commons[v] > 0)
			json_object_set_new(common, gpu_vendor_name((enum gpu_vendor)v),
			    nodes_json(inv, inv->common[v], inv->commons[v]));
		if (inv->absent[v][0] != '\0')
			put_text(absent, gpu_vendor_name((enum gpu_vendor)v), inv->absent[v]);
	}
	put_out(json_pack("{s:o, s:o, s:o, s:s}", "gpus", gpus, "common", common, "absent", absent, "cdi_problem",
	    inv->cdi_problem.n > 0 ? inv->cdi_problem.v[0] : ""));
}

static void
say_nodes(const struct inventory *inv, const struct gpu_node *n, size_t count)
{
	char joined[128], needed[160];
	struct seen s;
	size_t i;

	for (i = 0; i < count; i++) {
		json_t *names = capability_names(n[i].needed_for);

		join(names, joined, sizeof(joined));
		json_decref(names);
		snprintf(needed, sizeof(needed), "%s%s%s", *joined ? " (for " : "", joined, *joined ? ")" : "");
		look_at_node(inv, &n[i], &s);
		if (n[i].major == GPU_NODE_NO_MODULE)
			say("    %s%s: %s", n[i].path, needed, s.text);
		else
			say("    %s %u:%u%s: %s", n[i].path, n[i].major, n[i].minor, needed, s.text);
	}
}

static void
say_cdi(const struct gpu *g)
{
	size_t i;

	for (i = 0; i < g->cdi.n; i++)
		say("    CDI device %s", g->cdi.v[i]);
}

static void
say_joined(const struct inventory *inv, const struct gpu *g)
{
	char joined[256];
	json_t *list;
	unsigned by;

	for (by = 0; by < GPU_JOINS; by++) {
		list = joined_gpus(inv, g, (enum gpu_join)by);
		join(list, joined, sizeof(joined));
		if (joined[0] != '\0')
			say("    joined by %s: %s", join_name(g, (enum gpu_join)by), joined);
		json_decref(list);
	}
}

static void
say_gpu(const struct inventory *inv, const struct gpu *g, const struct settings *settings,
    const struct drained *drained)
{
	const struct leased_gpu held = gpu_as_leased(inv, g);
	const char *why = gpu_never_given(g, settings);
	const struct drained_gpu *d;
	char rank[16], name[16], part[40] = "";

	if (g->part[0] != '\0') {
		say("  MIG instance %s:%s", g->uuid[0] != '\0' ? g->uuid : g->pci, g->part);
		say_cdi(g);
		say_nodes(inv, g->node, g->nodes);
		return;
	}
	snprintf(rank, sizeof(rank), "%u", g->rank);
	gpu_part(inv, g, name);
	if (name[0] != '\0')
		snprintf(part, sizeof(part), " part %s", name);
	say("%s %s  %s%s  %s  %s%s", gpu_vendor_name(g->vendor), g->unusable[0] != '\0' ? "-" : rank,
	    g->pci[0] != '\0' ? g->pci : "(no address)", part, g->uuid[0] != '\0' ? g->uuid :
	    "(no UUID)", g->model[0] != '\0' ? g->model : "(unknown model)", g->integrated ? ", integrated" : "");
	if (why != NULL)
		say("    is granted to no container: %s", why);
	else if ((d = drained_find(drained, &held)) != NULL)
		say("    is granted to no further container: %s%s%s", d->sick ? "sick" : "drained", d->why[0] != '\0' ? ": " : "",
		    d->why);
	else if (g->has_instances)
		say("    has MIG instances: only a rule with mig = \"whole\" grants the whole GPU");
	say_joined(inv, g);
	say_cdi(g);
	say_nodes(inv, g->node, g->nodes);
}

static void
print_words(const struct inventory *inv, const struct settings *settings, const struct drained *drained)
{
	enum gpu_vendor v;
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		say_gpu(inv, &inv->gpu[i], settings, drained);
	for (v = 0; v < GPU_VENDORS; v++)
		if (inv->commons[v] > 0) {
			say("every %s GPU needs:", gpu_vendor_name(v));
			say_nodes(inv, inv->common[v], inv->commons[v]);
		}
	for (v = 0; v < GPU_VENDORS; v++)
		if (inv->absent[v][0] != '\0')
			say("no usable %s GPU: %s", gpu_vendor_name(v), inv->absent[v]);
	for (i = 0; i < inv->cdi_problem.n; i++)
		say("a CDI spec is not used: %s", inv->cdi_problem.v[i]);
}

int
ctl_devices(const struct options *o)
{
	autosettings struct settings settings = { 0 };
	autocdiregistry struct cdi_registry specs = { 0 };
	autodrained struct drained drained = { 0 };
	struct inventory inv = { 0 };
	struct why why;
	int ret;

	gpu_view_drained(&drained);
	if (config_settings_or_default(o, &settings, &why) == -1)
		return give_up(o, &why);
	ret = gpus_of_host(GPUS_ALL, &inv, &why) == -1 ? -1 : cdigpus_load(specs_parse, &specs, &inv, &why);
	if (ret == 0 && o->json)
		print_devices_json(&inv, &settings, &drained);
	else if (ret == 0)
		print_words(&inv, &settings, &drained);
	inventory_free(&inv);
	return ret == 0 ? 0 : give_up(o, &why);
}
