/*
 * cdi/cdigpu.c: which GPU a CDI device is, by its nodes, and which of its names are used for it.
 */
#include "base/cleanup.h"
#include "cdi/cdigpu.h"
#include "gpu/gpufind.h"
#include "policy/gpurule.h"
#include "policy/policy.h"
#include "tap.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define NODE(p) { .path = p, .major = 195 }
#define OPTIONAL(p) { .path = p, .major = 226, .optional = true }
#define SHARED(p) { .path = p, .major = 195, .shared = true }

/*
 * Two NVIDIA GPUs, the second with two MIG instances of one compute instance each, and an AMD GPU.
 */
static struct gpu gpus[] = {
	{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .node = { NODE("/dev/nvidia0"), OPTIONAL("/dev/dri/renderD128") },
	    .nodes = 2 },
	{ .vendor = GPU_NVIDIA, .pci = "0000:af:00.0", .has_instances = true, .nodes = 5, .rank = 1,
	    .node = { NODE("/dev/nvidia1"), NODE("/dev/nvidia-caps/nvidia-cap12"), NODE("/dev/nvidia-caps/nvidia-cap13"),
	    NODE("/dev/nvidia-caps/nvidia-cap21"), NODE("/dev/nvidia-caps/nvidia-cap22") } },
	{ .vendor = GPU_NVIDIA, .pci = "0000:af:00.0", .part = "1", .nodes = 3, .rank = 1, .node = { SHARED("/dev/nvidia1"),
	    NODE("/dev/nvidia-caps/nvidia-cap12"), NODE("/dev/nvidia-caps/nvidia-cap13") } },
	{ .vendor = GPU_NVIDIA, .pci = "0000:af:00.0", .part = "1:0", .nodes = 3, .rank = 1, .node = { SHARED("/dev/nvidia1"),
	    SHARED("/dev/nvidia-caps/nvidia-cap12"), NODE("/dev/nvidia-caps/nvidia-cap13") } },
	{ .vendor = GPU_NVIDIA, .pci = "0000:af:00.0", .part = "2:0", .nodes = 3, .rank = 1, .node = { SHARED("/dev/nvidia1"),
	    SHARED("/dev/nvidia-caps/nvidia-cap21"), NODE("/dev/nvidia-caps/nvidia-cap22") } },
	{ .vendor = GPU_AMD, .pci = "0000:03:00.0", .node = { NODE("/dev/dri/renderD129") }, .nodes = 1 },
};
static struct inventory host = { .gpu = gpus, .gpus = COUNT(gpus),
	.common = { [GPU_NVIDIA] = { NODE("/dev/nvidiactl") }, [GPU_AMD] = { NODE("/dev/kfd") } },
	.commons = { [GPU_NVIDIA] = 1, [GPU_AMD] = 1 } };

/* The GPU of a device with these nodes; the list ends with NULL. */
static struct gpu *
of_nodes(const char *const *path)
{
	static struct cdi_devnode node[8];
	struct cdi_device d = { .edits.node = node };

	for (; *path != NULL; path++)
		node[d.edits.nodes++] = (struct cdi_devnode){ .path = (char *)(uintptr_t)*path };
	return cdi_gpu_of(&d, &host);
}

static void
test_which_gpu(void)
{
	static const struct {
		const char *what;
		const char *path[8];
		int gpu;		/* -1: none */
	} t[] = {
		{ "a device with the GPU's own node is this GPU", { "/dev/nvidia0" }, 0 },
		{
		    "a device with the GPU's own, optional and common nodes is this GPU",
		    { "/dev/nvidia0", "/dev/dri/renderD128", "/dev/nvidiactl" }, 0 },
		{
		    "a device with the GPU's own node and an unknown node is this GPU",
		    { "/dev/nvidia0", "/dev/infiniband/uverbs0" }, 0 },
		{ "a device with only an optional node is no GPU", { "/dev/dri/renderD128" }, -1 },
		{ "a device with only a common node is no GPU", { "/dev/nvidiactl" }, -1 },
		{ "nothing", { NULL }, -1 },
		{
		    "a device with the nodes of two GPUs is no GPU",
		    { "/dev/nvidia0", "/dev/dri/renderD129" }, -1 },
		{
		    "a device with one GPU's node and another one's optional node is no GPU",
		    { "/dev/nvidia1", "/dev/dri/renderD128" }, -1 },
		{
		    "a device with the AMD GPU's node and kfd is this GPU",
		    { "/dev/dri/card1", "/dev/dri/renderD129", "/dev/kfd" }, 5 },
		{
		    "a device with a GPU's node but none of its MIG instances' is no GPU",
		    { "/dev/nvidia1" }, -1 },
		{
		    "a device with all nodes of a MIG instance is this instance",
		    { "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap12",
		    "/dev/nvidia-caps/nvidia-cap13" }, 3 },
		{
		    "a device with all nodes of the other MIG instance is that instance",
		    { "/dev/nvidia-caps/nvidia-cap22", "/dev/nvidia1",
		    "/dev/nvidia-caps/nvidia-cap21" }, 4 },
		{
		    "a device with half of the nodes of a MIG instance is no GPU",
		    { "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap21" }, -1 },
		{
		    "a device with one MIG instance and half of another is no GPU",
		    { "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap12",
		    "/dev/nvidia-caps/nvidia-cap13", "/dev/nvidia-caps/nvidia-cap21" }, -1 },
		{
		    "a device with the nodes of all MIG instances is the whole GPU",
		    { "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap12",
		    "/dev/nvidia-caps/nvidia-cap13",
		    "/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22" }, 1 },
	};
	struct cdi_devnode moved = { .path = (char[]){ "/dev/gpu" }, .host_path = (char[]){ "/dev/nvidia0" } };
	const struct cdi_device d = { .edits = { .node = &moved, .nodes = 1 } };
	const struct gpu *g;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		g = of_nodes(t[i].path);
		is_int(g == NULL ? -1 : g - gpus, t[i].gpu, t[i].what);
	}
	ok(cdi_gpu_of(&d, &host) == &gpus[0], "the GPU is found by the node's host path");
	ok(cdi_node_of_path(&host, "/dev/kfd") == &host.common[GPU_AMD][0] && cdi_node_of_path(&host, "/dev/dri/renderD128") ==
	    &gpus[0].node[1] && cdi_node_of_path(&host, "/run/nvidia/driver/dev/nvidia0") == NULL,
	    "a node of the host is found by its path");
	ok(gpu_has_node(&host, &gpus[0], "/dev/nvidiactl") && !gpu_has_node(&host, &gpus[5], "/dev/nvidiactl"),
	    "a common node belongs to the GPUs of its vendor");
	ok(gpu_of_node(&host, "/dev/kfd") == NULL && gpu_of_node(&host, "/dev/nvidia0") == &gpus[0],
	    "a common node does not tell the GPU, and a GPU's own node does");
}

static void
test_numbers(void)
{
	struct gpu numbered = { .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .nodes = 1,
	    .node = { { .path = "/dev/nvidia1", .major = 195, .minor = 1 } } };
	struct inventory inv = { .gpu = &numbered, .gpus = 1, .commons = { [GPU_NVIDIA] = 2 }, .common = { [GPU_NVIDIA] = {
	    { .path = "/dev/nvidia-uvm-tools", .major = 510, .minor = 1 },
	    { .path = "/dev/nvidia-uvm", .major = GPU_NODE_NO_MODULE } } } };
	struct cdi_devnode n = { .path = (char[]){ "/dev/x" } };

	ok(cdi_node_of_number(&inv, 195, 1) == &numbered.node[0], "a GPU's own node is found by its number");
	ok(cdi_node_of_number(&inv, 510, 1) == &inv.common[GPU_NVIDIA][0], "a node of all GPUs is found by its number");
	ok(cdi_node_of_number(&inv, 195, 0) == NULL && cdi_node_of_number(&inv, 510, 195) == NULL &&
	    cdi_node_of_number(&inv, -1, 0) == NULL && cdi_node_of_number(&inv, 195 + (INT64_C(1) << 32), 1) == NULL,
	    "no other number is a node's");
	ok(cdi_node_of_number(&inv, GPU_NODE_NO_MODULE, 0) == NULL, "a node of a missing module has no number");
	ok(!cdi_node_is_numbered(&n), "a node without numbers");
	n.major = (struct cdi_i64){ true, 195 };
	ok(cdi_node_is_numbered(&n), "a node with a number and no type is a character device");
	n.type = 'b';
	ok(!cdi_node_is_numbered(&n), "a block device has no number of a GPU");
	n.type = 'u';
	n.major.v = 0;
	ok(!cdi_node_is_numbered(&n), "the major number 0 is none");
}

static void
test_no_gpu(void)
{
	static const struct { const char *path[4], *host_path, *why; } t[] = {
		{ { NULL }, NULL, "has no device node" },
		{ { "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl" }, NULL, "has nodes of several GPUs" },
		{ { "/dev/nvidia0", "/dev/dri/renderD129" }, NULL, "has nodes of several GPUs" },
		{ { "/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap21" }, NULL, "lacks a node of its GPU" },
		{ { "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap12" }, NULL, "lacks a node of its GPU" },
		{ { "/dev/nvidia2", "/dev/nvidiactl" }, NULL, "has no node of a GPU of this host" },
		{ { "/dev/dxg" }, NULL, "has no node of a GPU of this host" },
		{ { "/dev/nvidia0" }, "/run/nvidia/driver/dev/nvidia0", "has a node outside of /dev" },
	};
	struct cdi_devnode node[4];
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		struct cdi_device d = { .edits.node = node };

		for (; t[i].path[d.edits.nodes] != NULL; d.edits.nodes++)
			node[d.edits.nodes] = (struct cdi_devnode){ .path = (char *)(uintptr_t)t[i].path[d.edits.nodes],
				.host_path = (char *)(uintptr_t)t[i].host_path };
		if (ok(cdi_gpu_of(&d, &host) == NULL, "a device with %zu nodes is no GPU", d.edits.nodes))
			is_str(cdi_no_gpu(&d, &host), t[i].why, "  this is the reason");
	}
}

static void
test_names(void)
{
	struct gpu *g = &gpus[0];
	static const char mig[] = "MIG-11111111-2222-3333-4444-555555555555";
	struct gpu_rule rule = { .kind = (char[]){ "nvidia.com/gpu" } };

	strlist_add(&g->cdi, "acme.com/gpu=0", SIZE_MAX);
	strlist_add(&g->cdi, "nvidia.com/gpu=7", SIZE_MAX);
	strlist_add(&g->cdi, "nvidia.com/gpus=1", SIZE_MAX);
	strlist_add(&gpus[3].cdi, "nvidia.com/gpu=MIG-11111111-2222-3333-4444-555555555555", SIZE_MAX);
	is_str(cdi_name_of(g, NULL), "nvidia.com/gpu=7",
	    "without a kind, the name of the vendor's own kind is used");
	is_str(cdi_name_of(g, "acme.com/gpu"), "acme.com/gpu=0",
	    "with a kind, the name of this kind is used");
	ok(cdi_name_of(g, "nvidia.com/gp") == NULL && cdi_name_of(g, "gpu") == NULL,
	    "a part of a kind finds no name");
	ok(cdi_name_of(&gpus[5], NULL) == NULL, "a GPU without CDI names has none");
	ok(gpu_is_named(g, "nvidia.com/gpu=7", false) && !gpu_is_named(g, "nvidia.com/gpu=0", true),
	    "a full name means the GPU, and another device's name does not");
	ok(gpu_is_named(&gpus[3], mig, false) && !gpu_is_named(&gpus[2], mig, false) && !gpu_is_named(g, mig, false),
	    "a MIG instance is named by its UUID");
	ok(gpu_rule_means(&rule, "7", g) && !gpu_rule_means(&rule, "0", g) && !gpu_rule_means(&rule, "1", g),
	    "a rule for a kind takes the name from the spec, not the rank or a name of another "
	    "kind");
	ok(gpu_rule_means(&rule, "all", g) && gpu_rule_names(&rule, g) && !gpu_rule_names(&rule, &gpus[5]),
	    "\"all\" in a rule means all GPUs of the kind");
	ok(cdi_same_gpu(&host, &gpus[2]) == &gpus[3],
	    "a GPU instance has the CDI name of its only compute instance");
	ok(cdi_same_gpu(&host, &gpus[1]) == &gpus[1] && cdi_same_gpu(&host, &gpus[4]) == &gpus[4],
	    "a GPU with several instances does not have the name of one");
	strlist_add(&g->cdi, "acme.com/gpu=1", SIZE_MAX);
	rule.kind = (char[]){ "acme.com/gpu" };
	is_str(gpu_rule_cdi_name(&rule, g), "acme.com/gpu=0",
	    "of two names, the first is used if the rule names no device");
	strlist_add(&rule.devices, "1", SIZE_MAX);
	is_str(gpu_rule_cdi_name(&rule, g), "acme.com/gpu=1",
	    "of two names, the one that the rule names is used");
	strlist_add(&rule.devices, "all", SIZE_MAX);
	is_str(gpu_rule_cdi_name(&rule, g), "acme.com/gpu=0",
	    "of two names, the first is used if the rule says \"all\"");
	ok(gpu_rule_cdi_name(&rule, &gpus[5]) == NULL, "a GPU without a name of the kind has none");
	strlist_free(&rule.devices);
	strlist_free(&g->cdi);
	strlist_free(&gpus[3].cdi);
}

int
main(void)
{
	test_which_gpu();
	test_numbers();
	test_no_gpu();
	test_names();
	return done_testing();
}
