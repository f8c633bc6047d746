/* See driverunmatched.h. The specs' nodes have the paths that cdigpus_name() gave them. */
#include "driverunmatched.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../cdi/cdigpu.h"
#include "../../gpu/unsupported.h"
#include "cdisource.h"

/* The length of what is before «end» in the text; 0 if the text does not end so. */
static size_t
length_before(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0 ? n - m : 0;
}

/*
 * Refuses a node by the name of the GPU's node «own» that is none of this host's: the node at hostPath is missing, or
 * is another device.
 */
static int
refuse_node(const struct cdi_file *f, const struct cdi_devnode *n, const struct gpu *g, const char *own,
    struct why *why)
{
	const char *source = cdi_node_source(n);
	const size_t root = length_before(source, own);
	char real[PATH_MAX], state[200];
	struct why inner;
	struct stat st;
	bool roots;

	if (!cdi_node_is_numbered(n) && cdi_find_source(source, real, &st, &roots, &inner) == -1)
		snprintf(state, sizeof(state), "%.199s", inner.text);
	else
		snprintf(state, sizeof(state), "%.150s is none of this host's GPU nodes", source);
	if (root == 0)
		return refuse(why, WHY_CONFIG, "CDI spec %.100s: node %s: GPU %s would come without the driver's files: remove "
		    "hostPath and the numbers of this node from the spec", f->path, state, g->pci);
	return refuse(why, WHY_CONFIG, "CDI spec %.100s: node %s: GPU %s would come without the driver's files: make the "
	    "spec anew (nvidia-ctk cdi generate --dev-root=/ --driver-root=%.*s)", f->path, state, g->pci,
	    root < 100 ? (int)root : 100, source);
}

static int
check_device(const struct inventory *inv, const struct cdi_file *f, const struct cdi_device *d, const struct gpu *g,
    struct why *why)
{
	const char *unsupported, *source = NULL;
	bool known = false;
	size_t i, k;

	for (i = 0; i < d->edits.nodes; i++) {
		const struct cdi_devnode *n = &d->edits.node[i];

		source = cdi_node_source(n);
		known = known || gpu_of_node(inv, source) != NULL;
		for (k = 0; k < g->nodes && cdi_node_of_path(inv, source) == NULL; k++)
			if (!g->node[k].optional && (strcmp(n->path, g->node[k].path) == 0 ||
			    length_before(source, g->node[k].path) > 0))
				return refuse_node(f, n, g, g->node[k].path, why);
	}
	if (known || source == NULL || !cdi_kind_is_own(f->spec.kind, g->vendor))
		return 0;
	if ((unsupported = node_unsupported(source)) != NULL)
		return refuse(why, WHY_CONFIG, "CDI spec %.150s: device %.80s (%.80s) is of a GPU of %s, which gpuhelper can't "
		    "give, and no spec has GPU %s: remove that spec", f->path, d->name, source, unsupported, g->pci);
	return refuse(why, WHY_CONFIG, "CDI spec %.150s: device %.80s (%.80s) has no node of this host's GPUs, and no spec "
	    "has GPU %s: renew that spec, or remove it", f->path, d->name, source, g->pci);
}

int
driver_check_unmatched(const struct cdi_registry *specs, const struct inventory *inv, const struct gpu *g,
    struct why *why)
{
	const struct cdi_file *f;
	size_t i, k;

	for (i = 0; i < specs->files; i++) {
		f = &specs->file[i];
		for (k = 0; f->usable && k < f->spec.devices; k++)
			if (check_device(inv, f, &f->spec.device[k], g, why) == -1)
				return -1;
	}
	return 0;
}
