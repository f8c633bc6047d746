/*
 * See devicesjson.h.  Anybody may have written the file: text that does not fit is refused, never cut.  A node's state
 * on the other host is ignored; policies do not depend on it.
 */
#include "devicesjson.h"

#include <stdio.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../gpu/gpufind.h"
#include "../../gpu/inventorylines.h"
#include "../../json/strictjson.h"
#include "../ctl.h"

#define FILE_MAX_BYTES (8U << 20)

struct reading {
	const char *shown;
	struct inventory *inv;
	struct why *why;
};

static int
unfit(const struct reading *r, const char *what)
{
	return refuse(r->why, WHY_DATA, "%.200s: %s: the file must be output of «gpuhelperctl devices --json»", r->shown,
	    what);
}

/* Takes an optional string.  False if it is no string or too long. */
static bool
take_text(const json_t *object, const char *key, char *out, size_t size)
{
	const json_t *j = json_object_get(object, key);

	out[0] = '\0';
	if (j == NULL)
		return true;
	return json_is_string(j) && json_string_length(j) < size && snprintf(out, size, "%s", json_string_value(j)) >= 0;
}

static bool
take_u32(const json_t *object, const char *key, uint32_t otherwise, uint32_t *out)
{
	const json_t *j = json_object_get(object, key);

	*out = otherwise;
	if (j == NULL)
		return true;
	if (!json_is_integer(j) || json_integer_value(j) < 0 || json_integer_value(j) >= UINT32_MAX)
		return false;
	*out = (uint32_t)json_integer_value(j);
	return true;
}

static bool
take_capabilities(const json_t *names, unsigned *out)
{
	const json_t *name;
	unsigned bit;
	size_t i;

	*out = 0;
	if (names != NULL && !json_is_array(names))
		return false;
	json_array_foreach(names, i, name) {
		if (!json_is_string(name) || !gpu_capability_parse(json_string_value(name), &bit))
			return false;
		*out |= bit;
	}
	return true;
}

static int
take_nodes(const struct reading *r, const json_t *list, struct gpu_node v[GPU_NODES_MAX], size_t *n)
{
	const json_t *j;
	size_t i;

	if (list != NULL && (!json_is_array(list) || json_array_size(list) > GPU_NODES_MAX))
		return unfit(r, "\"nodes\" is not a list of nodes");
	json_array_foreach(list, i, j) {
		struct gpu_node node = { .optional = json_is_true(json_object_get(j, "optional")) };

		if (!take_text(j, "path", node.path, sizeof(node.path)) || !text_starts(node.path, "/dev/") ||
		    !take_u32(j, "major", GPU_NODE_NO_MODULE, &node.major) || !take_u32(j, "minor", 0, &node.minor) ||
		    !take_capabilities(json_object_get(j, "needed_for"), &node.needed_for))
			return unfit(r, "invalid node");
		gpu_node_add(v, n, node);
	}
	return 0;
}

static int
take_names(const struct reading *r, const json_t *list, struct strlist *out)
{
	const json_t *j;
	size_t i;

	if (list != NULL && !json_is_array(list))
		return unfit(r, "\"cdi\" is not a list of names");
	json_array_foreach(list, i, j) {
		if (!json_is_string(j))
			return unfit(r, "\"cdi\" is not a list of names");
		if (!strlist_add(out, json_string_value(j), SIZE_MAX))
			return refuse_nomem(r->why);
	}
	return 0;
}

/* Takes the name of a MIG instance, or the number of an AMD partition. */
static bool
take_part(const json_t *j, struct gpu *g)
{
	char part[sizeof(g->part)];
	uint32_t partition = 0;

	if (!take_text(j, "part", part, sizeof(part)))
		return false;
	if (g->vendor == GPU_AMD && part[0] != '\0') {
		if (!text_u32(part, 0, 4095, &partition))
			return false;
		g->partition = partition;
	} else
		memcpy(g->part, part, sizeof(part));
	return true;
}

static int
take_gpu(const struct reading *r, const json_t *j)
{
	enum gpu_vendor vendor;
	struct gpu *g;
	char pci[16];

	if (!gpu_vendor_parse(get_text(j, "vendor"), &vendor))
		return unfit(r, "a GPU has no known vendor");
	if ((g = inventory_add(r->inv, vendor)) == NULL)
		return refuse_nomem(r->why);
	if (!take_text(j, "pci", pci, sizeof(pci)) || (pci[0] != '\0' && !pci_address_normalise(pci, g->pci)) ||
	    !take_part(j, g) || !take_text(j, "uuid", g->uuid, sizeof(g->uuid)) ||
	    !take_text(j, "model", g->model, sizeof(g->model)))
		return unfit(r, "a GPU has an invalid pci, part, uuid or model");
	g->has_instances = json_is_true(json_object_get(j, "mig"));
	g->integrated = json_is_true(json_object_get(j, "integrated"));
	/* a GPU that is withheld by that host's settings only has a rank: the settings of this host count */
	if (json_object_get(j, "rank") == NULL) {
		if (!take_text(j, "unusable", g->unusable, sizeof(g->unusable)))
			return unfit(r, "a GPU has an invalid \"unusable\"");
		if (g->unusable[0] == '\0')
			return unfit(r, "a GPU has neither \"rank\" nor \"unusable\"");
	}
	if (take_names(r, json_object_get(j, "cdi"), &g->cdi) == -1)
		return -1;
	return take_nodes(r, json_object_get(j, "nodes"), g->node, &g->nodes);
}

static int
take_vendors(const struct reading *r, const json_t *common, const json_t *absent)
{
	struct inventory *inv = r->inv;
	const char *name;
	unsigned v;

	for (v = 0; v < GPU_VENDORS; v++) {
		name = gpu_vendor_name((enum gpu_vendor)v);
		if (take_nodes(r, json_object_get(common, name), inv->common[v], &inv->commons[v]) == -1)
			return -1;
		if (!take_text(absent, name, inv->absent[v], sizeof(inv->absent[v])))
			return unfit(r, "\"absent\" has an invalid reason");
	}
	return 0;
}

int
devices_of_json(const json_t *j, const char *shown, struct inventory *out, struct why *why)
{
	const struct reading r = { shown, out, why };
	const json_t *gpus = json_object_get(j, "gpus"), *gpu;
	size_t i;

	if (!json_is_array(gpus) || json_array_size(gpus) > INVENTORY_GPUS_MAX)
		return unfit(&r, "the list \"gpus\" is missing or too long");
	json_array_foreach(gpus, i, gpu)
		if (take_gpu(&r, gpu) == -1)
			return -1;
	if (take_vendors(&r, json_object_get(j, "common"), json_object_get(j, "absent")) == -1)
		return -1;
	inventory_rank(out);
	return 0;
}

int
devices_load(const char *path, struct inventory *out, struct why *why)
{
	const char *shown = strcmp(path, "-") == 0 ? "standard input" : path;
	autofree char *text = NULL;
	struct why cause;
	json_t *j;
	size_t len;
	int ret;

	if ((text = ctl_read_input(path, FILE_MAX_BYTES, &len, why)) == NULL)
		return -1;
	if ((j = strictjson_object(text, len, &cause)) == NULL)
		return refuse(why, cause.code, "%.200s: %s", shown, cause.text);
	ret = devices_of_json(j, shown, out, why);
	json_decref(j);
	return ret;
}
