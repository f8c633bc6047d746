/*
 * gpuhelper-judge's report on a host (gpu/inventorylines.h) is read back as it was written. The
 * check of gpuhelper-engine (ask/hostcheck.h) accepts everything in the fixtures, and refuses every false
 * report that it can detect; the helper's (gpu/knownnode.h), every node that is no GPU's.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ask/hostcheck.h"
#include "base/cleanup.h"
#include "gpu/gpufind.h"
#include "gpu/inventorylines.h"
#include "gpu/knownnode.h"
#include "host/file.h"
#include "host/gpu/gpus.h"
#include "rnd.h"
#include "tap.h"

static const char *sysroot;

static bool
find(const char *tree, struct inventory *inv)
{
	char path[PATH_MAX];
	struct why why;
	autoclose int fd = -1;
	struct gpu_source src;

	snprintf(path, sizeof(path), "%s/%s", sysroot, tree);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	src = (struct gpu_source){ .root = fd };
	return ok(gpus_find(&src, GPUS_ALL, inv, &why) == 0, "the GPUs of %s are found", tree);
}

static char *
written(struct inventory *inv, size_t *len)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	inventory_lines(&t, inv);
	if (!lines_finish(&t))
		return NULL;
	*len = b.len;
	return buf_take(&b);
}

static bool
taken(const char *text, size_t len, struct inventory *inv)
{
	struct lines t = { .at = text, .end = text + len };

	*inv = (struct inventory){ 0 };
	inventory_lines(&t, inv);
	return lines_finish(&t);
}

static bool
same_nodes(const struct gpu_node *a, size_t n, const struct gpu_node *b, size_t m)
{
	size_t i;

	for (i = 0; i < n && i < m; i++)
		if (strcmp(a[i].path, b[i].path) != 0 || a[i].major != b[i].major || a[i].minor != b[i].minor ||
		    a[i].needed_for != b[i].needed_for || a[i].optional != b[i].optional || a[i].read_only != b[i].read_only ||
		    a[i].shared != b[i].shared)
			return false;
	return n == m;
}

static bool
same(const struct inventory *a, const struct inventory *b)
{
	const struct gpu *g, *h;
	size_t i;

	for (i = 0; i < GPU_VENDORS; i++)
		if (strcmp(a->absent[i], b->absent[i]) != 0 || !same_nodes(a->common[i], a->commons[i], b->common[i], b->commons[i]))
			return false;
	for (i = 0; i < a->gpus && i < b->gpus; i++) {
		g = &a->gpu[i];
		h = &b->gpu[i];
		if (g->vendor != h->vendor || g->rank != h->rank || strcmp(g->pci, h->pci) != 0 || g->partition != h->partition ||
		    strcmp(g->part, h->part) != 0 || g->has_instances != h->has_instances || strcmp(g->uuid, h->uuid) != 0 ||
		    memcmp(g->joined, h->joined, sizeof(g->joined)) != 0 || strcmp(g->model, h->model) != 0 || g->integrated != h->integrated || strcmp(g->unusable, h->unusable) != 0 ||
		    !same_nodes(g->node, g->nodes, h->node, h->nodes))
			return false;
	}
	return a->gpus == b->gpus && a->udev_clears_n == b->udev_clears_n && strcmp(a->nvidia_version, b->nvidia_version) == 0;
}

/* Moves the majors to *to; the helper reads them itself. */
static void
give_majors(struct inventory *from, struct inventory *to)
{
	to->majors = from->majors;
	from->majors = (struct devmajors){ 0 };
}

static void
test_fixture(const char *tree)
{
	struct inventory inv, back, some;
	autofree char *text = NULL;
	size_t len, i, cut = 0;
	struct why why = { 0 };

	if (!find(tree, &inv))
		return;
	ok(inventory_add_udev_clears(&inv, 226, 128), "  a node that udev looks after is added");
	text = written(&inv, &len);
	ok(text != NULL && taken(text, len, &back), "  the report is written and read back");
	inventory_rank(&back);
	ok(same(&inv, &back) && inventory_udev_clears(&back, 226, 128) &&
	    !inventory_udev_clears(&back, 226, 129),
	    "  the report is the same");
	give_majors(&inv, &back);
	is_int(host_check(&back, &why), 0, "  the report is checked");
	for (i = 0; i < GPU_VENDORS; i++)
		is_str(back.fault[i].text, "", "  the check finds no fault");
	ok(inventory_copy(&back, 1U << GPU_NVIDIA, &some, &why) == 0 && some.gpus <= back.gpus &&
	    strcmp(some.absent[GPU_AMD], "not looked for") == 0 &&
	    (some.gpus == 0 || some.gpu[0].vendor == GPU_NVIDIA),
	    "  a copy of one vendor's part has only its GPUs");
	inventory_free(&some);
	inventory_free(&back);
	for (i = 0; i < len; i++) {
		cut += taken(text, i, &back);
		inventory_free(&back);
	}
	is_int((long long)cut, 0, "  no truncated report is accepted");
	inventory_free(&inv);
}

/*
 * False reports. Each function changes a correct inventory of two whole GPUs into an impossible
 * one.
 */

static void
put_path(struct gpu_node *n, const char *path, uint32_t major, uint32_t minor)
{
	snprintf(n->path, sizeof(n->path), "%s", path);
	n->major = major;
	n->minor = minor;
}

static void mem(struct inventory *v) { put_path(&v->gpu[0].node[0], "/dev/mem", 1, 1); }
static void mem_by_number(struct inventory *v) { v->gpu[0].node[0].major = 1; }
static void other_minor(struct inventory *v) { v->gpu[0].node[0].minor = 1; }
static void above(struct inventory *v) { put_path(&v->gpu[0].node[0], "/dev/nvidia255", 195, 255); }
static void way(struct inventory *v) { put_path(&v->gpu[0].node[0], "/dev/nvidia0/../sda", 195, 0); }
static void zeros(struct inventory *v) { put_path(&v->gpu[0].node[0], "/dev/nvidia00", 195, 0); }
static void ctl_as_own(struct inventory *v) { put_path(&v->gpu[0].node[0], "/dev/nvidiactl", 195, 255); }
static void kvm(struct inventory *v) { put_path(&v->gpu[0].node[0], "/dev/dri/renderD232", 10, 232); }
static void no_render(struct inventory *v) { put_path(&v->gpu[0].node[0], "/dev/dri/renderD1", 226, 1); }
static void no_module(struct inventory *v) { v->gpu[0].node[0].major = GPU_NODE_NO_MODULE; }
static void kfd(struct inventory *v) { put_path(&v->common[GPU_NVIDIA][0], "/dev/kfd", 234, 0); }
static void own_for_all(struct inventory *v) { v->common[GPU_NVIDIA][0] = v->gpu[1].node[0]; }
static void of_intel(struct inventory *v) { v->commons[GPU_INTEL] = 1; v->common[GPU_INTEL][0] = v->common[GPU_NVIDIA][0]; }
static void of_amd(struct inventory *v) { v->gpu[0].vendor = GPU_AMD; }
static void both(struct inventory *v) { v->gpu[1].node[0] = v->gpu[0].node[0]; }
static void both_shared_once(struct inventory *v) { both(v); v->gpu[1].node[0].shared = true; }
static void both_shared(struct inventory *v) { both_shared_once(v); v->gpu[0].node[0].shared = true; }
static void twice(struct inventory *v) { memcpy(v->gpu[1].pci, v->gpu[0].pci, sizeof(v->gpu[1].pci)); }
static void part_of_two(struct inventory *v) { twice(v); strcpy(v->gpu[0].part, "1"); strcpy(v->gpu[1].part, "2"); both_shared_once(v); }
static void parts_of_two_gpus(struct inventory *v) { strcpy(v->gpu[0].part, "1"); strcpy(v->gpu[1].part, "2"); both_shared(v); }
static void to_be_read(struct inventory *v) { v->gpu[0].node[0].read_only = true; }
static void needed(struct inventory *v) { v->gpu[0].node[0].needed_for = 1U << 20; }
static void pci(struct inventory *v) { strcpy(v->gpu[0].pci, "3b:00.0"); }
static void no_pci(struct inventory *v) { v->gpu[0].pci[0] = '\0'; }
static void part(struct inventory *v) { strcpy(v->gpu[0].part, "1:02"); }
static void half_part(struct inventory *v) { strcpy(v->gpu[0].part, "1:"); }
static void whole_and_part(struct inventory *v) { strcpy(v->gpu[0].part, "1"); v->gpu[0].has_instances = true; }
static void cap(struct inventory *v, const char *path, uint32_t minor)
{
	put_path(&v->gpu[0].node[1], path, 511, minor);
	v->gpu[0].node[1].read_only = true;
	v->gpu[0].nodes = 2;
}
static void cap_of_whole(struct inventory *v) { cap(v, "/dev/nvidia-caps/nvidia-cap3", 3); }
static void cap_of_config(struct inventory *v) { v->gpu[0].has_instances = true; cap(v, "/dev/nvidia-caps/nvidia-cap1", 1); }
static void cap_of_imex(struct inventory *v) { v->gpu[0].has_instances = true; cap(v, "/dev/nvidia-caps/nvidia-cap4323", 4323); }
static void whole_shared(struct inventory *v) { v->gpu[0].node[0].shared = true; }
static void common_shared(struct inventory *v) { v->common[GPU_NVIDIA][0].shared = true; }
static void many_parts(struct inventory *v) { strcpy(v->gpu[0].part, "100"); }
static void uuid_all(struct inventory *v) { strcpy(v->gpu[0].uuid, "all"); }
static void uuid_short(struct inventory *v) { v->gpu[0].uuid[39] = '\0'; }
static void uuid_long(struct inventory *v) { strcat(v->gpu[0].uuid, "0"); }
static void uuid_amd(struct inventory *v) { strcpy(v->gpu[0].uuid, "0x0123456789abcdef"); }
static void uuid(struct inventory *v) { strcpy(v->gpu[0].uuid, "GPU-\n"); }
static void model(struct inventory *v) { strcpy(v->gpu[0].model, "a\nb"); }
static void version(struct inventory *v) { strcpy(v->nvidia_version, "580/.."); }
static void nothing(struct inventory *v) { v->gpu[0].nodes = 0; }
static void none(struct inventory *v) { (void)v; }

static void
test_lies(void)
{
#define LIE(f) { #f, f }
	static const struct {
		const char *name;
		void (*tell)(struct inventory *v);
	} lies[] = { LIE(mem), LIE(mem_by_number), LIE(other_minor), LIE(above), LIE(way), LIE(zeros), LIE(ctl_as_own), LIE(kvm),
		LIE(no_render), LIE(no_module), LIE(kfd), LIE(own_for_all), LIE(of_intel), LIE(of_amd), LIE(both), LIE(both_shared_once),
		LIE(both_shared), LIE(twice), LIE(part_of_two), LIE(parts_of_two_gpus), LIE(to_be_read), LIE(needed), LIE(pci), LIE(no_pci), LIE(part),
		LIE(half_part), LIE(whole_and_part), LIE(cap_of_whole),
		LIE(cap_of_config), LIE(cap_of_imex), LIE(whole_shared), LIE(common_shared), LIE(many_parts), LIE(uuid_all),
		LIE(uuid_short), LIE(uuid_long), LIE(uuid_amd), LIE(uuid), LIE(model), LIE(version), LIE(nothing), LIE(none) };
	struct inventory inv;
	const struct why *at;
	struct why why;
	size_t i, k;
	int ret;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		if (!find("nvidia-2gpu", &inv))
			return;
		why = (struct why){ 0 };
		lies[i].tell(&inv);
		ret = host_check(&inv, &why);
		for (k = 0, at = &inv.fault[0]; k < GPU_VENDORS; k++)
			if (inv.fault[k].code != WHY_NONE)
				at = &inv.fault[k];
		if (lies[i].tell == none)
			ok(ret == 0 && at->code == WHY_NONE, "a correct report is accepted");
		else
			ok(ret == 0 && at->code == WHY_BUG &&
			    strstr(at->text, "gpuhelper-judge") != NULL,
			    "a false report is refused: %s: %s", lies[i].name,
			    at->text);
		inventory_free(&inv);
	}
}

/* The helper itself compares nodes only: by path, number, driver and vendor, of each GPU and of all together. */
static void
test_known_nodes(void)
{
	static const struct {
		const char *name;
		void (*tell)(struct inventory *v);
	} lies[] = { LIE(mem), LIE(mem_by_number), LIE(other_minor), LIE(above), LIE(way), LIE(zeros), LIE(ctl_as_own), LIE(kvm),
		LIE(no_render), LIE(no_module), LIE(kfd), LIE(own_for_all), LIE(of_intel), LIE(of_amd), LIE(cap_of_config),
		LIE(cap_of_imex) };
	struct inventory inv;
	struct why why;
	unsigned v, bad;
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]) && find("nvidia-2gpu", &inv); i++) {
		for (v = 0, bad = 0; v < GPU_VENDORS; v++)
			bad += known_nodes_check(&inv, (enum gpu_vendor)v, &why) == -1;
		is_int(bad, 0, "  all nodes are known");
		lies[i].tell(&inv);
		for (v = 0; v < GPU_VENDORS; v++)
			bad += known_nodes_check(&inv, (enum gpu_vendor)v, &why) == -1;
		ok(bad == 1 && why.code == WHY_BUG && strstr(why.text, "a node that is no GPU's: /dev/") != NULL,
		    "a node that is no GPU's is refused: %s", lies[i].name);
		inventory_free(&inv);
	}
}

/* A fault of one vendor's GPUs does not affect another vendor's. */
static void
test_apart(void)
{
	struct inventory inv, some;
	struct gpu *g;
	struct why why;

	if (!find("nvidia-2gpu", &inv) || (g = inventory_add(&inv, GPU_INTEL)) == NULL)
		return;
	snprintf(g->pci, sizeof(g->pci), "0000:00:02.0");
	put_path(&g->node[0], "/dev/mem", 1, 1);
	g->nodes = 1;
	refuse(&inv.fault[GPU_AMD], WHY_IO, "kfd does not answer");
	ok(host_check(&inv, &why) == 0 && inv.fault[GPU_INTEL].code == WHY_BUG && inv.fault[GPU_NVIDIA].code == WHY_NONE &&
	    inv.fault[GPU_AMD].code == WHY_IO,
	    "neither a false report on one vendor's GPUs nor another vendor's failing driver "
	    "affects a third vendor");
	ok(inventory_copy(&inv, 1U << GPU_NVIDIA, &some, &why) == 0 && some.gpus == 2 && some.fault[GPU_INTEL].code == WHY_NONE &&
	    some.fault[GPU_AMD].code == WHY_NONE,
	    "a copy of one vendor's part has no fault of the others");
	inventory_free(&some);
	inventory_free(&inv);
}

/* Changed bytes: a report that is accepted has only one spelling, and only GPUs' nodes. */
static void
test_flipped(void)
{
	struct inventory inv, back;
	unsigned taken_all = 0, wrong = 0, i;
	autofree char *text = NULL;
	size_t len, k;
	struct why why;

	if (!find("nvidia-2gpu", &inv) || (text = written(&inv, &len)) == NULL)
		return;
	for (i = 0; i < 20000; i++) {
		autofree char *other = strdup(text), *again = NULL;
		size_t n;

		other[rnd(len)] = (char)(rnd(95) + 32);
		if (!taken(other, len, &back)) {
			inventory_free(&back);
			continue;
		}
		again = written(&back, &n);
		wrong += again == NULL || n != len || memcmp(again, other, len) != 0;
		give_majors(&inv, &back);
		if (host_check(&back, &why) == 0 && back.fault[GPU_NVIDIA].code == WHY_NONE) {
			taken_all++;
			for (k = 0; k < back.gpus; k++)
				wrong += back.gpu[k].vendor == GPU_NVIDIA && back.gpu[k].nodes > 0 && back.gpu[k].node[0].major != 195 && back.gpu[k].node[0].major != 226;
		}
		give_majors(&back, &inv);
		inventory_free(&back);
	}
	is_int(wrong, 0,
	    "20,000 flipped bytes: each accepted report has one spelling and only GPUs' nodes (%u "
	    "accepted)", taken_all);
	ok(taken_all > 0, "some flipped reports are accepted");
	inventory_free(&inv);
}

/* The helper uses the numbers of joins as places in a table (gpu/pick.c). */
static void
test_joins(void)
{
	struct inventory inv = { 0 }, back = { 0 };
	autofree char *text = NULL, *too = NULL;
	size_t len = 0;

	if (!find("nvidia-2gpu", &inv))
		return;
	inv.gpu[1].joined[GPU_JOIN_SWITCH] = INVENTORY_GPUS_MAX;
	text = written(&inv, &len);
	ok(text != NULL && taken(text, len, &back), "what joins GPUs is read");
	inventory_rank(&back);
	ok(same(&inv, &back), "  as it was written");
	inventory_free(&back);
	inv.gpu[1].joined[GPU_JOIN_OUTER] = INVENTORY_GPUS_MAX + 1;
	too = written(&inv, &len);
	ok(too == NULL || !taken(too, len, &back), "a number that is no place in a table of all GPUs is refused");
	inventory_free(&back);
	inventory_free(&inv);
}

int
main(int argc, char **argv)
{
	static const char *const trees[] = { "nvidia-2gpu", "nvidia-4gpu", "nvidia-h200", "nvidia-mig", "nvidia-nouvm", "nvidia-odd",
		"amd-2dgpu-apu", "amd-mi300x-cpx", "intel", "udev-amd", "empty" };
	char path[PATH_MAX];
	size_t i;

	seed = 3;
	snprintf(path, sizeof(path), "%s/fixtures/sysroot", tests_dir(argc, argv));
	sysroot = path;
	for (i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		test_fixture(trees[i]);
	test_joins();
	test_lies();
	test_known_nodes();
	test_apart();
	test_flipped();
	return done_testing();
}
