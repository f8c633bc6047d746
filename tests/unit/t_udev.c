/*
 * host/udev.c, and host/gpus.c with it, on the devices that umockdev simulates from fixtures/sysroot/udev.umockdev.
 * The program executes itself under umockdev-run, whose preload shows these devices to libudev.
 */
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "../../helper/host/file.h"
#include "../../helper/host/gpus.h"
#include "../../helper/host/udev.h"
#include "tap.h"

static const char *sysroot;

static void
restart(char **argv, const char *dir)
{
	static char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s/fixtures/sysroot/udev.umockdev", dir);
	if (access(file, R_OK) == -1) {
		perror(file);
		exit(2);
	}
	/* the preload comes before the sanitizer's own library, which is intended */
	if (setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0) == -1 ||
	    setenv("TESTS_DIR", dir, 1) == -1 || setenv("T_UDEV_MOCKED", "1", 1) == -1)
		exit(2);
	execlp("umockdev-run", "umockdev-run", "-d", file, "--", argv[0], (char *)NULL);
	skip_all("umockdev-run is not installed");
}

static const struct drm_node *
by_path(const struct drm_nodes *nodes, const char *path)
{
	size_t i;

	for (i = 0; i < nodes->n; i++)
		if (strcmp(nodes->v[i].path, path) == 0)
			return &nodes->v[i];
	return NULL;
}

static void
test_list(void)
{
	struct drm_nodes nodes = { 0 };
	const struct drm_node *d;
	struct why why = { 0 };

	is_int(udev_drm_nodes(true, true, &nodes, &why), 0, "everything: %s", why.text);
	is_int(nodes.n, 10, "six render nodes, three cards, an NPU, and no connector");
	if (ok((d = by_path(&nodes, "/dev/dri/renderD128")) != NULL, "a render node")) {
		ok(d->kind == DRM_RENDER && d->major == 226 && d->minor == 128, "its number");
		is_str(d->pci, "0000:00:02.0", "its address");
		is_str(d->driver, "i915", "its driver");
		ok(d->vendor == 0x8086 && d->device == 0x7d55 && d->class == 0x030000, "its ids");
	}
	if (ok((d = by_path(&nodes, "/dev/accel/accel0")) != NULL, "an NPU")) {
		ok(d->kind == DRM_ACCEL && d->major == 261 && d->minor == 0, "its number");
		is_str(d->driver, "intel_vpu", "its driver");
	}
	if (ok((d = by_path(&nodes, "/dev/dri/renderD132")) != NULL, "a partition's")) {
		is_str(d->driver, "amdgpu_xcp", "is known by its platform device");
		is_str(d->pci, "", "has no address");
	}
	if (ok((d = by_path(&nodes, "/dev/dri/card3")) != NULL, "a USB display"))
		is_str(d->pci, "", "is not the USB controller's");
	if (ok((d = by_path(&nodes, "/dev/dri/renderD150")) != NULL, "a virtual one"))
		ok(d->pci[0] == '\0' && d->driver[0] == '\0' && d->vendor == 0, "is nobody's");
	ok(by_path(&nodes, "/dev/dri/card12") != NULL, "a card of two digits");
	drm_nodes_free(&nodes);
	is_int(udev_drm_nodes(false, false, &nodes, &why), 0, "render nodes alone");
	is_int(nodes.n, 6, "are six");
	drm_nodes_free(&nodes);
	is_int(udev_drm_nodes(false, true, &nodes, &why), 0, "with accel nodes");
	is_int(nodes.n, 7, "are seven");
	drm_nodes_free(&nodes);
}

static int
find(const char *tree, unsigned vendors, struct inventory *inv)
{
	struct why why = { 0 };
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/%s", sysroot, tree);
	autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct gpu_source src = { .root = fd, .udev = true };

	r = gpus_find(&src, vendors, inv, &why);
	is_int(r, 0, "%s: found: %s", tree, why.text);
	return r;
}

static void
test_amd(void)
{
	struct inventory inv;

	if (find("amd-2dgpu-apu", 1U << GPU_AMD, &inv) == 0 && is_int(inv.gpus, 3, "three")) {
		is_str(inv.gpu[0].pci, "0000:03:00.0", "one that udev knows");
		is_str(inv.gpu[0].unusable, "", "is of use");
		is_int(inv.gpu[0].rank, 0, "and first");
		is_str(inv.gpu[1].unusable, "libudev does not know its /dev/dri/renderD130: "
		    "see udevadm info /dev/dri/renderD130", "one that it does not know is not");
		is_str(inv.gpu[2].unusable,
		    "/dev/dri/renderD128 belongs to driver \"i915\" of vendor "
		    "0x8086, not to amdgpu", "nor is one of which it says something else");
		is_int(inv.gpu[2].rank, UINT_MAX, "which has no rank");
	}
	inventory_free(&inv);
	if (find("udev-amd", 1U << GPU_AMD, &inv) == 0 && is_int(inv.gpus, 3, "three")) {
		is_str(inv.gpu[0].unusable, "kfd says /dev/dri/renderD129 is of 0000:33:00.0, udev "
		    "says of 0000:03:00.0: see dmesg", "two addresses for one GPU");
		is_str(inv.gpu[1].pci, "0000:44:00.0", "a GPU with partitions");
		is_str(inv.gpu[1].unusable, "", "is of use");
		is_str(inv.gpu[2].pci, "0000:44:00.0", "its second partition");
		is_str(inv.gpu[2].unusable, "", "is of use");
		is_int(inv.gpu[2].partition, 1, "is numbered");
		is_str(inv.gpu[2].node[0].path, "/dev/dri/renderD132", "has a node of its own");
	}
	inventory_free(&inv);
}

static void
test_others(void)
{
	const unsigned both = 1U << GPU_NVIDIA | 1U << GPU_INTEL;
	struct inventory inv;

	if (find("nvidia-2gpu", both, &inv) == 0 && is_int(inv.gpus, 4, "two NVIDIA, two Intel")) {
		is_str(inv.gpu[0].pci, "0000:3b:00.0", "an NVIDIA GPU");
		is_int(inv.gpu[0].nodes, 3, "has its DRM nodes too");
		is_str(inv.gpu[0].node[0].path, "/dev/nvidia0", "after its own");
		ok(inv.gpu[0].node[1].needed_for == (GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY) &&
		    inv.gpu[0].node[2].needed_for == (GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY),
		    "which only graphics needs");
		is_int(inv.gpu[1].nodes, 1, "the other has none");
		is_str(inv.gpu[2].pci, "0000:00:02.0", "an Intel GPU");
		ok(inv.gpu[2].integrated && inv.gpu[2].rank == 0, "the processor's own");
		is_str(inv.gpu[3].model, "NPU", "an NPU");
		is_str(inv.gpu[3].node[0].path, "/dev/accel/accel0", "its node");
	}
	inventory_free(&inv);
}

int
main(int argc, char **argv)
{
	const char *dir = tests_dir(argc, argv);
	char root[PATH_MAX];

	if (emulated())
		skip_all("umockdev is the machine's, not the emulated one's");
	if (getenv("T_UDEV_MOCKED") == NULL)
		restart(argv, dir);
	snprintf(root, sizeof(root), "%s/fixtures/sysroot", dir);
	sysroot = root;
	test_list();
	test_amd();
	test_others();
	return done_testing();
}
