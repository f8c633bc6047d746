/*
 * host/gpu/udev.c, and host/gpu/gpus.c with it, on the devices that umockdev simulates from
 * fixtures/sysroot/udev.umockdev. The program runs itself again under umockdev-run, whose preload
 * shows these devices to libudev.
 */
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "../../helper/host/file.h"
#include "../../helper/host/gpu/gpus.h"
#include "../../helper/host/gpu/udev.h"
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
	/* the preload comes before the sanitizer's own library, as intended */
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

	is_int(udev_drm.list(true, true, &nodes, &why), 0, "all nodes are listed: %s", why.text);
	is_int(nodes.n, 10,
	    "six render nodes, three cards and an NPU are listed, and no connector");
	if (ok((d = by_path(&nodes, "/dev/dri/renderD128")) != NULL, "a render node is listed")) {
		ok(d->kind == DRM_RENDER && d->major == 226 && d->minor == 128,
		    "the render node has its number");
		is_str(d->pci, "0000:00:02.0", "the render node has its address");
		is_str(d->driver, "i915", "the render node has its driver");
		ok(d->vendor == 0x8086 && d->device == 0x7d55 && d->class == 0x030000,
		    "the render node has its ids");
	}
	if (ok((d = by_path(&nodes, "/dev/accel/accel0")) != NULL, "an NPU is listed")) {
		ok(d->kind == DRM_ACCEL && d->major == 261 && d->minor == 0,
		    "the NPU has its number");
		is_str(d->driver, "intel_vpu", "the NPU has its driver");
	}
	if (ok((d = by_path(&nodes, "/dev/dri/renderD132")) != NULL,
	    "the node of a partition is listed")) {
		is_str(d->driver, "amdgpu_xcp",
		    "the partition's node is recognised by its platform device");
		is_str(d->pci, "", "the partition's node has no address");
	}
	if (ok((d = by_path(&nodes, "/dev/dri/card3")) != NULL, "a USB display is listed"))
		is_str(d->pci, "", "the USB display does not have the address of its controller");
	if (ok((d = by_path(&nodes, "/dev/dri/renderD150")) != NULL, "a virtual node is listed"))
		ok(d->pci[0] == '\0' && d->driver[0] == '\0' && d->vendor == 0,
		    "the virtual node has no address, driver or vendor");
	ok(by_path(&nodes, "/dev/dri/card12") != NULL,
	    "a card with a number of two digits is listed");
	drm_nodes_free(&nodes);
	is_int(udev_drm.list(false, false, &nodes, &why), 0, "render nodes alone are listed");
	is_int(nodes.n, 6, "six render nodes are listed");
	drm_nodes_free(&nodes);
	is_int(udev_drm.list(false, true, &nodes, &why), 0,
	    "render nodes and accel nodes are listed");
	is_int(nodes.n, 7, "six render nodes and one accel node are listed");
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
	struct gpu_source src = { .root = fd, .drm = &udev_drm };

	r = gpus_find(&src, vendors, inv, &why);
	is_int(r, 0, "%s: the GPUs are found: %s", tree, why.text);
	return r;
}

static void
test_amd(void)
{
	struct inventory inv;

	if (find("amd-2dgpu-apu", 1U << GPU_AMD, &inv) == 0 && is_int(inv.gpus, 3,
	    "three GPUs are found")) {
		is_str(inv.gpu[0].pci, "0000:03:00.0", "the first GPU is one that udev knows");
		is_str(inv.gpu[0].unusable, "", "the GPU that udev knows is usable");
		is_int(inv.gpu[0].rank, 0, "the GPU that udev knows has the first rank");
		is_str(inv.gpu[1].unusable, "libudev does not know its /dev/dri/renderD130: "
		    "see udevadm info /dev/dri/renderD130",
		    "a GPU that udev does not know is unusable");
		is_str(inv.gpu[2].unusable,
		    "/dev/dri/renderD128 belongs to driver \"i915\" of vendor "
		    "0x8086, not to amdgpu",
		    "a GPU of another driver, according to udev, is unusable");
		is_int(inv.gpu[2].rank, UINT_MAX, "the unusable GPU has no rank");
	}
	inventory_free(&inv);
	if (find("udev-amd", 1U << GPU_AMD, &inv) == 0 && is_int(inv.gpus, 3,
	    "three GPUs are found")) {
		is_str(inv.gpu[0].unusable, "kfd says /dev/dri/renderD129 is of 0000:33:00.0, udev "
		    "says of 0000:03:00.0: see dmesg",
		    "a GPU with different addresses in kfd and udev is unusable");
		is_str(inv.gpu[1].pci, "0000:44:00.0", "a GPU with partitions has its address");
		is_str(inv.gpu[1].unusable, "", "the GPU with partitions is usable");
		is_str(inv.gpu[2].pci, "0000:44:00.0",
		    "the GPU's second partition has the same address");
		is_str(inv.gpu[2].unusable, "", "the second partition is usable");
		is_int(inv.gpu[2].partition, 1, "the second partition has its number");
		is_str(inv.gpu[2].node[0].path, "/dev/dri/renderD132",
		    "the second partition has a node of its own");
	}
	inventory_free(&inv);
}

static void
test_others(void)
{
	const unsigned both = 1U << GPU_NVIDIA | 1U << GPU_INTEL;
	struct inventory inv;

	if (find("nvidia-2gpu", both, &inv) == 0 && is_int(inv.gpus, 4,
	    "two NVIDIA and two Intel devices are found")) {
		is_str(inv.gpu[0].pci, "0000:3b:00.0", "an NVIDIA GPU has its address");
		is_int(inv.gpu[0].nodes, 3, "the NVIDIA GPU has its DRM nodes");
		is_str(inv.gpu[0].node[0].path, "/dev/nvidia0",
		    "the NVIDIA GPU's own node comes first");
		ok(inv.gpu[0].node[1].needed_for == (GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY) &&
		    inv.gpu[0].node[2].needed_for == (GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY),
		    "only graphics and display need the DRM nodes");
		is_int(inv.gpu[1].nodes, 1, "the other NVIDIA GPU has no DRM nodes");
		is_str(inv.gpu[2].pci, "0000:00:02.0", "an Intel GPU has its address");
		ok(inv.gpu[2].integrated && inv.gpu[2].rank == 0,
		    "the Intel GPU is integrated, and has the first rank");
		is_str(inv.gpu[3].model, "NPU", "an NPU has its model");
		is_str(inv.gpu[3].node[0].path, "/dev/accel/accel0", "the NPU has its node");
	}
	inventory_free(&inv);
}

int
main(int argc, char **argv)
{
	const char *dir = tests_dir(argc, argv);
	char root[PATH_MAX];

	if (emulated())
		skip_all("umockdev is built for this machine, not for the emulated one");
	if (getenv("T_UDEV_MOCKED") == NULL)
		restart(argv, dir);
	snprintf(root, sizeof(root), "%s/fixtures/sysroot", dir);
	sysroot = root;
	test_list();
	test_amd();
	test_others();
	return done_testing();
}
