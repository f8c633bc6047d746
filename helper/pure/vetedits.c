/* See vet.h. Makes no system call: the caller says how to look at the host. */
#include "vet.h"

#include <stdio.h>
#include <string.h>

#include "cdigpu.h"
#include "hostcheck.h"
#include "path.h"
#include "vetparts.h"

int
vet_refuse(const char *what, const char *name, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper's reply has the %s %.200s, which no policy for root and no CDI spec gives: "
	    "nothing was changed (try again if one of these files was just changed)", what, name);
}

bool
vet_gives_driver_files(const struct vet *v)
{
	return v->settings->driver_files == DRIVER_FILES_AUTO || v->settings->driver_files == DRIVER_FILES_CDI;
}

/* Nodes. */

/* True if a rule gives nodes of this word. */
static bool
rules_give_word(const struct policy *p, unsigned word, uint32_t minor)
{
	const struct gpu_rule *r;
	size_t i;

	for (i = 0; i < p->gpus; i++) {
		r = &p->gpu[i];
		if (word == FURTHER_IMEX && r->one_channel ? r->channel == minor : (r->nodes & word) != 0)
			return true;
	}
	return false;
}

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
specs_have_node(const struct vet *v, const char *path)
{
	const struct cdi_edits *e;
	size_t i, k;

	for (i = 0; i < v->sources; i++)
		for (e = v->source[i].edits, k = 0; k < e->nodes; k++)
			if (strcmp(e->node[k].path, path) == 0 || strcmp(cdi_node_source(&e->node[k]), path) == 0)
				return true;
	return false;
}

/* True for a node beyond those of known drivers, which a spec or a policy's word gives. */
static bool
is_further(const struct vet *v, const struct edit_node *n, const struct further_node *what)
{
	const unsigned vendors = rules_vendors(v->policy);
	const bool listed = specs_have_node(v, n->path);
	struct gpu g = { .vendor = GPU_NVIDIA };
	unsigned word = 0;

	memcpy(g.pci, what->pci, sizeof(g.pci));
	for (; g.vendor < GPU_VENDORS; g.vendor++) {
		if ((vendors & (1U << g.vendor)) == 0)
			continue;
		switch (further_judge(v->majors, &g, "", what, &word)) {
		case FURTHER_OF_GPU:
		case FURTHER_DISPLAYS:
			if (listed)
				return true;
			break;
		case FURTHER_BY_WORD:
			/* an IMEX channel needs no spec */
			if ((listed || word == FURTHER_IMEX) && rules_give_word(v->policy, word, n->minor))
				return true;
			break;
		case FURTHER_OF_GPUS:
		case FURTHER_UNKNOWN:
			break;
		}
	}
	return false;
}

static bool
is_given_node(const struct vet *v, const struct edit_node *n)
{
	struct gpu_node known = { .major = n->major, .minor = n->minor };
	struct further_node what = { .pci = "" };
	struct edit_node here = { .path = "" };

	if (!v->look.node(v->look.host, n->path, &here, &what) || here.major != n->major || here.minor != n->minor ||
	    (n->mode & ~here.mode) != 0 || n->uid != here.uid || n->gid != here.gid ||
	    cdi_host_device('c', n->major, n->minor) != NULL)
		return false;
	memcpy(known.path, n->path, sizeof(known.path));
	return (host_node_vendors(v->majors, &known) & rules_vendors(v->policy)) != 0 || is_further(v, n, &what);
}

static int
check_nodes(const struct vet *v, struct why *why)
{
	size_t i;

	for (i = 0; i < v->edits->nodes; i++)
		if (!is_given_node(v, &v->edits->node[i]))
			return vet_refuse("device", v->edits->node[i].path, why);
	return 0;
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
		if (idmap_out(&v->request->gids, e->gid[i], &host) && host != 0)
			for (k = 0; k < e->nodes && e->node[k].gid != host; k++)
				;
		if (k == e->nodes) {
			snprintf(text, sizeof(text), "%u", e->gid[i]);
			return vet_refuse("group", text, why);
		}
	}
	return 0;
}

/* Paths that are hidden can only be what NVIDIA's driver shows of GPUs. */
static int
check_masked(const struct vet *v, struct why *why)
{
	struct why wrong;
	size_t i;

	for (i = 0; i < v->edits->masked.n; i++)
		if (path_check(v->edits->masked.v[i], &wrong) == -1 ||
		    !path_is_beneath(v->edits->masked.v[i], "/proc/driver/nvidia"))
			return vet_refuse("masked path", v->edits->masked.v[i], why);
	return 0;
}

int
vet_edits(const struct vet *v, struct why *why)
{
	if (check_nodes(v, why) == -1)
		return -1;
	if (vet_mounts(v, why) == -1)
		return -1;
	if (vet_hooks(v, why) == -1)
		return -1;
	if (check_groups(v, why) == -1)
		return -1;
	if (vet_labels(v, why) == -1)
		return -1;
	if (check_masked(v, why) == -1)
		return -1;
	return vet_env(v, why);
}
