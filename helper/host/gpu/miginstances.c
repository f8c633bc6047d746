/* See miginstances.h. Reads only /proc/driver/nvidia/capabilities beneath a directory. */
#include "miginstances.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../gpu/gpufind.h"
#include "../../gpu/mig.h"
#include "gputext.h"

#define DIR_FORMAT "capabilities/gpu%u/mig"

/* The search for one GPU's instances. */
struct mig_search {
	int driver;		/* /proc/driver/nvidia */
	char dir[64];
	struct inventory *inv;
	size_t at;		/* index of the whole GPU; adding a part may move the array */
	uint32_t caps;		/* major number of nvidia-caps */
	struct why *why;
};

/* Makes the GPU unusable: if one instance can't be read, none is granted. Returns 1. */
static int
make_unusable(struct mig_search *s, const char *path, const char *what)
{
	struct gpu *whole = &s->inv->gpu[s->at];

	snprintf(whole->unusable, sizeof(whole->unusable), "its MIG instances can't be known: %.40s: %.40s", path, what);
	return 1;
}

/* Reads the node of one capability. 0, or 1 if the GPU was made unusable. */
static int
read_cap(struct mig_search *s, const char *below, struct gpu_node *node)
{
	autofree char *text = gpus_read(s->driver, "%s/%s/access", s->dir, below);
	struct why bad;

	if (text == NULL)
		return make_unusable(s, below, strerror(errno));
	*node = (struct gpu_node){ .major = s->caps, .read_only = true };
	if (mig_access_parse(text, &node->minor, &bad) == -1)
		return make_unusable(s, below, bad.text);
	snprintf(node->path, sizeof(node->path), "/dev/nvidia-caps/nvidia-cap%u", node->minor);
	return 0;
}

/* Adds an instance: a copy of the whole GPU, with the nodes that every part needs. */
static struct gpu *
add_part(struct mig_search *s, const char *part)
{
	struct gpu *g = inventory_add(s->inv, GPU_NVIDIA);
	const struct gpu *whole = &s->inv->gpu[s->at];

	if (g == NULL)
		return NULL;
	*g = *whole;
	g->has_instances = false;
	g->nodes = 1;
	g->node[0].shared = true;
	snprintf(g->part, sizeof(g->part), "%s", part);
	return g;
}

static int
add_compute(struct mig_search *s, const struct gpu_node *gi_cap, uint32_t gi, const char *name, size_t gi_at)
{
	char below[64], part[16];
	struct gpu_node cap;
	struct gpu *g;
	uint32_t ci;
	int ret;

	if (!mig_dir_parse(name, "ci", &ci))
		return 0;
	snprintf(below, sizeof(below), "gi%u/ci%u", gi, ci);
	if ((ret = read_cap(s, below, &cap)) != 0)
		return ret;
	snprintf(part, sizeof(part), "%u:%u", gi, ci);
	if ((g = add_part(s, part)) == NULL)
		return refuse_nomem(s->why);
	gpu_node_add(g->node, &g->nodes, *gi_cap);
	g->node[1].shared = true;
	gpu_node_add(g->node, &g->nodes, cap);
	gpu_node_add(s->inv->gpu[gi_at].node, &s->inv->gpu[gi_at].nodes, cap);
	gpu_node_add(s->inv->gpu[s->at].node, &s->inv->gpu[s->at].nodes, cap);
	return 0;
}

/* Adds a GPU instance with its compute instances. 0, 1 if the GPU was made unusable, or -1 with *why. */
static int
add_instance(struct mig_search *s, const char *name)
{
	autostrlist struct strlist below = { 0 };
	char path[80], part[16];
	struct gpu_node cap;
	uint32_t gi;
	size_t i, at;
	int ret;

	if (!mig_dir_parse(name, "gi", &gi))
		return 0;
	snprintf(part, sizeof(part), "gi%u", gi);
	if ((ret = read_cap(s, part, &cap)) != 0)
		return ret;
	snprintf(path, sizeof(path), "%s/gi%u", s->dir, gi);
	if ((ret = gpus_list(s->driver, path, &below, s->why)) != 0)
		return ret == -1 ? make_unusable(s, part, s->why->text) : 0;
	snprintf(part, sizeof(part), "%u", gi);
	if (add_part(s, part) == NULL)
		return refuse_nomem(s->why);
	at = s->inv->gpus - 1;
	gpu_node_add(s->inv->gpu[at].node, &s->inv->gpu[at].nodes, cap);
	gpu_node_add(s->inv->gpu[s->at].node, &s->inv->gpu[s->at].nodes, cap);
	s->inv->gpu[s->at].has_instances = true;
	for (i = 0, ret = 0; ret == 0 && i < below.n; i++)
		ret = add_compute(s, &cap, gi, below.v[i], at);
	return ret;
}

int
mig_find(int driver, struct inventory *inv, size_t at, uint32_t minor, struct why *why)
{
	struct mig_search s = { .driver = driver, .inv = inv, .at = at, .why = why };
	autostrlist struct strlist names = { 0 };
	size_t i;
	int ret;

	snprintf(s.dir, sizeof(s.dir), DIR_FORMAT, minor);
	if (inv->gpu[at].unusable[0] != '\0' || (ret = gpus_list(driver, s.dir, &names, why)) == 1 ||
	    (ret == 0 && names.n == 0))
		return 0;
	if (ret == -1)
		ret = make_unusable(&s, "mig", why->text);
	else if (!devmajors_char(&inv->majors, "nvidia-caps", &s.caps))
		ret = make_unusable(&s, "/proc/devices", "no nvidia-caps");
	for (i = 0; ret == 0 && i < names.n; i++)
		ret = add_instance(&s, names.v[i]);
	if (ret == 1)
		inv->gpus = at + 1;	/* remove the parts as well */
	return ret == -1 ? -1 : 0;
}
