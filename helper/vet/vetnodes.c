/* See vetparts.h: device nodes, which CDI devices they bring along, and groups. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../cdi/cdigpu.h"
#include "../gpu/extraword.h"
#include "../gpu/gpufind.h"
#include "../gpu/knownnode.h"
#include "../policy/gpurule.h"
#include "vetparts.h"

#define DRAWS ((unsigned)(GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY))

/* Rules. */

/* The vendors whose GPUs the policy's rules give. */
static unsigned
rules_vendors(const struct policy *p)
{
	unsigned vendors = 0;
	size_t i;

	for (i = 0; i < p->gpus; i++)
		vendors |= gpu_rule_vendors(&p->gpu[i]);
	return vendors;
}

static bool
rules_draw(const struct policy *p)
{
	size_t i;

	for (i = 0; i < p->gpus; i++)
		if ((p->gpu[i].capabilities & DRAWS) != 0)
			return true;
	return false;
}

/* True if a rule gives nodes of this word. Of IMEX channels without a spec, it gives the one that it names, or 0. */
static bool
rules_give_word(const struct policy *p, unsigned word, uint32_t minor, bool listed)
{
	const struct gpu_rule *r;
	size_t i;

	for (i = 0; i < p->gpus; i++) {
		r = &p->gpu[i];
		if ((r->nodes & word) == 0)
			continue;
		if (word != EXTRA_IMEX || minor == (r->one_channel ? r->channel : 0) || (listed && !r->one_channel))
			return true;
	}
	return false;
}

/* True if the name may mean this GPU: it does, it means a part of it, or it can't be told without all GPUs (a rank). */
static bool
may_mean(const char *name, const struct gpu *g)
{
	char whole[128], *colon;
	int parts;

	if (strchr(name, '=') != NULL || text_starts(name, "MIG-") || name[strspn(name, "#0123456789")] == '\0')
		return true;
	snprintf(whole, sizeof(whole), "%s", name);
	for (parts = 0; parts < 3; parts++) {
		if (gpu_is_named(g, whole, false))
			return true;
		if ((colon = strrchr(whole, ':')) == NULL || colon[1 + strspn(colon + 1, "0123456789")] != '\0')
			return false;
		*colon = '\0';
	}
	return false;
}

static bool
rules_name(const struct policy *p, const struct gpu *g)
{
	const struct gpu_rule *r;
	size_t i, k;

	for (i = 0; i < p->gpus; i++) {
		r = &p->gpu[i];
		if ((gpu_rule_vendors(r) & (1U << g->vendor)) == 0)
			continue;
		/* names of a CDI kind are the spec's */
		if (r->devices.n == 0 || r->kind != NULL)
			return true;
		for (k = 0; k < r->devices.n; k++)
			if (may_mean(r->devices.v[k], g))
				return true;
	}
	return false;
}

/* Nodes. */

/* True if a spec's device has the node, and opens it. */
static bool
source_has(const struct vet_source *s, const char *path)
{
	const struct cdi_devnode *n;
	size_t i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < s->edits[i]->nodes; k++) {
			n = &s->edits[i]->node[k];
			if ((strcmp(n->path, path) == 0 || strcmp(cdi_node_source(n), path) == 0) &&
			    (n->permissions == NULL || *n->permissions == '\0' || strchr(n->permissions, 'w') != NULL))
				return true;
		}
	return false;
}

/* A spec that has a granted GPU's node may bring further ones; so may one of the kind for a word. */
static bool
specs_have(const struct vet *v, const char *path, unsigned word)
{
	size_t i;

	for (i = 0; i < v->sources; i++)
		if ((v->source[i].granted || (word != 0 && extra_kind_word(v->source[i].kind) == word)) &&
		    source_has(&v->source[i], path))
			return true;
	return false;
}

/* True for a node beyond those of known drivers, which a spec or a policy's word gives. */
static bool
is_extra(const struct vet *v, const struct vet_node *n)
{
	const unsigned vendors = rules_vendors(v->policy);
	struct gpu g = { .vendor = GPU_NVIDIA };
	unsigned word = 0;
	bool listed;

	memcpy(g.pci, n->what.pci, sizeof(g.pci));
	for (; g.vendor < GPU_VENDORS; g.vendor++) {
		if ((vendors & (1U << g.vendor)) == 0 || (n->vendors != 0 && (n->vendors & (1U << g.vendor)) == 0))
			continue;
		switch (extra_classify(v->majors, &g, "", &n->what, &word)) {
		case EXTRA_OF_GPU:
			if (specs_have(v, n->node.path, 0) && (g.pci[0] == '\0' || rules_name(v->policy, &g)))
				return true;
			break;
		case EXTRA_DISPLAYS:
			if (specs_have(v, n->node.path, 0) && rules_draw(v->policy))
				return true;
			break;
		case EXTRA_BY_WORD:
			listed = specs_have(v, n->node.path, word);
			if ((listed || word == EXTRA_IMEX) && rules_give_word(v->policy, word, n->node.minor, listed))
				return true;
			break;
		case EXTRA_OF_GPUS:
		case EXTRA_UNKNOWN:
			break;
		}
	}
	return false;
}

/* True for a node that the known drivers have for a GPU, or all GPUs, of a rule. */
static bool
is_known(const struct vet *v, const struct vet_node *n)
{
	struct gpu_node known = { .major = n->node.major, .minor = n->node.minor };
	struct gpu g = { .vendor = GPU_NVIDIA };
	unsigned vendors;

	memcpy(known.path, n->node.path, sizeof(known.path));
	vendors = known_node_vendors(v->majors, &known) & rules_vendors(v->policy);
	if (strcmp(known.path, "/dev/nvidia-modeset") == 0)
		return vendors != 0 && rules_draw(v->policy);
	/* all vendors' drivers number their nodes there */
	if (known.major == DRM_MAJOR || known.major == ACCEL_MAJOR)
		vendors &= n->vendors;
	memcpy(g.pci, n->pci, sizeof(g.pci));
	memcpy(g.uuid, n->uuid, sizeof(g.uuid));
	for (; g.vendor < GPU_VENDORS; g.vendor++)
		if ((vendors & (1U << g.vendor)) != 0 && (g.pci[0] == '\0' || rules_name(v->policy, &g)))
			return true;
	return false;
}

/* Fills *seen with what is at the node's path. False: the host has no such node. */
static bool
find_at(const struct vet *v, const struct edit_node *n, struct vet_node *seen)
{
	const struct edit_node *here = &seen->node;

	*seen = (struct vet_node){ .pci = "" };
	if (!v->host_view.node(v->host_view.host, n->path, seen) || here->major != n->major || here->minor != n->minor ||
	    (n->mode & ~here->mode) != 0 || n->uid != here->uid || n->gid != here->gid ||
	    cdi_host_device('c', n->major, n->minor) != NULL)
		return false;
	memcpy(seen->node.path, n->path, sizeof(seen->node.path));
	return true;
}

/* Marks the specs' devices that have this node of a GPU. */
static void
mark_sources(struct vet *v, const char *path)
{
	size_t i;

	for (i = 0; i < v->sources; i++)
		v->source[i].granted = v->source[i].granted || source_has(&v->source[i], path);
}

/* The GPUs whose nodes were seen. */
struct seen_gpus {
	char pci[64][16];
	size_t n;
};

static void
count_gpu(struct seen_gpus *s, const char *pci)
{
	size_t i;

	for (i = 0; i < s->n && strcmp(s->pci[i], pci) != 0; i++)
		;
	if (*pci != '\0' && i == s->n && s->n < sizeof(s->pci) / sizeof(s->pci[0]))
		memcpy(s->pci[s->n++], pci, sizeof(s->pci[0]));
}

/* No more GPUs than the rules give at once, unless they are only promised. */
static int
check_count(const struct vet *v, const struct seen_gpus *s, struct why *why)
{
	size_t i, most = 0;

	for (i = 0; i < v->policy->gpus; i++)
		most += v->policy->gpu[i].count;
	return v->edits->promise || s->n <= most ? 0 : vet_refuse("GPU", s->pci[most], why);
}

/* Looks at every node, once: both rounds of check_nodes() judge what was seen. */
static int
find_all(const struct vet *v, struct vet_node *seen, struct why *why)
{
	const struct edits *e = v->edits;
	size_t i;

	for (i = 0; i < e->nodes; i++)
		if (!find_at(v, &e->node[i], &seen[i]))
			return vet_refuse("device", e->node[i].path, why);
	return 0;
}

static int
check_nodes(struct vet *v, struct why *why)
{
	const struct edits *e = v->edits;
	autofree struct vet_node *seen = calloc(e->nodes + 1, sizeof(*seen));
	struct seen_gpus gpus = { .n = 0 };
	int extra;
	size_t i, k;

	if (seen == NULL)
		return refuse_nomem(why);
	if (find_all(v, seen, why) == -1)
		return -1;
	/* the known ones first: they say which specs may bring further ones */
	for (extra = 0; extra < 2; extra++)
		for (i = 0; i < e->nodes; i++) {
			if (is_known(v, &seen[i])) {
				mark_sources(v, e->node[i].path);
				count_gpu(&gpus, seen[i].pci);
			} else if (extra && !is_extra(v, &seen[i]))
				return vet_refuse("device", e->node[i].path, why);
			for (k = 0; k < i && !extra; k++)
				if (strcmp(e->node[k].path, e->node[i].path) == 0)
					return vet_refuse("second device", e->node[i].path, why);
		}
	return check_count(v, &gpus, why);
}

/* The group of a granted node, and never the host's group 0. */
static int
check_groups(const struct vet *v, struct why *why)
{
	const struct edits *e = v->edits;
	uint32_t host;
	char text[16];
	size_t i, k;

	for (i = 0; i < e->gids; i++) {
		k = e->nodes;
		if (idmap_out(&v->request->spec.gids, e->gid[i], &host) && host != 0)
			for (k = 0; k < e->nodes && e->node[k].gid != host; k++)
				;
		if (k == e->nodes) {
			snprintf(text, sizeof(text), "%u", e->gid[i]);
			return vet_refuse("group", text, why);
		}
	}
	return 0;
}

int
vet_nodes(struct vet *v, struct why *why)
{
	return check_nodes(v, why) == -1 ? -1 : check_groups(v, why);
}
