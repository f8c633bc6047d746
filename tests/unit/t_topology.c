/*
 * host/gpu/topology.c: which GPUs are joined, by made-up links in a temporary /sys and directories in a temporary /proc.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/gpu/topology.h"
#include "tap.h"

#define GPUS_MAX 8

static char top[] = "/tmp/gpuhelper-joins.XXXXXX";
static int root;

struct device {
	const char *pci, *above;	/* above: the bridges; NULL: /sys does not know the device */
};

static void __attribute__((noreturn))
bail(const char *what)
{
	perror(what);
	exit(1);
}

static void
link_device(const struct device *d)
{
	char path[64], to[512];

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", d->pci);
	(void)unlinkat(root, path, 0);
	snprintf(to, sizeof(to), "../../../devices/%s/%s", d->above != NULL ? d->above : "", d->pci);
	if (d->above != NULL && symlinkat(to, root, path) == -1)
		bail("symlink");
}

/* What topology_find() says, a digit for each GPU: "1133 1111" for the switches and the outer ones. */
static const char *
joined(const struct device *d, size_t n, enum gpu_vendor vendor, enum gpu_join by)
{
	static char out[GPUS_MAX + 1];
	struct gpu gpu[GPUS_MAX];
	struct inventory inv = { .gpu = gpu, .gpus = n };
	size_t i;

	for (i = 0; i < n; i++) {
		gpu[i] = (struct gpu){ .vendor = vendor };
		snprintf(gpu[i].pci, sizeof(gpu[i].pci), "%s", d[i].pci);
		link_device(&d[i]);
	}
	topology_find(root, &inv);
	for (i = 0; i < n; i++)
		out[i] = (char)('0' + gpu[i].joined[by]);
	out[n] = '\0';
	return out;
}

static void
test_switches(void)
{
	static const struct device four[] = {
		{ "0000:19:00.0", "pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:00.0" },
		{ "0000:1a:00.0", "pci0000:16/0000:16:02.0/0000:17:00.0/0000:18:01.0" },
		{ "0000:3b:00.0", "pci0000:3a/0000:3a:00.0/0000:3b:00.0/0000:3c:00.0" },
		{ "0000:5d:00.0", "pci0000:3a/0000:3a:00.0/0000:3b:00.0/0000:3c:01.0" },
	};
	static const struct device nested[] = {
		{ "0000:05:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:00.0" },
		{ "0000:06:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:01.0" },
		{ "0000:0a:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:07:00.0/0000:08:00.0" },
		{ "0000:0b:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:07:00.0/0000:08:01.0" },
		{ "0000:0f:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:02.0" },
		{ "0000:81:00.0", "pci0000:80/0000:80:01.0" },
	};
	/* these cards have a switch of their own; the first two are on a root port each */
	static const struct device own[] = {
		{ "0000:03:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0" },
		{ "0000:06:00.0", "pci0000:00/0000:00:03.0/0000:04:00.0/0000:05:00.0" },
		{ "0000:0c:00.0", "pci0000:07/0000:07:00.0/0000:08:00.0/0000:09:00.0/0000:0a:00.0/0000:0b:00.0" },
		{ "0000:0f:00.0", "pci0000:07/0000:07:00.0/0000:08:00.0/0000:09:01.0/0000:0d:00.0/0000:0e:00.0" },
	};
	static const struct device guest[] = { { "0000:00:06.0", "pci0000:00" }, { "0000:00:07.0", "pci0000:00" } };
	static const struct device arm[] = { { "0000:01:00.0", "platform/40000000.pcie/pci0000:00/0000:00:00.0" },
		{ "0001:01:00.0", "platform/50000000.pcie/pci0001:00/0001:00:00.0" } };
	static const struct device managed[] = {
		{ "10000:02:00.0", "pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:01.0/10000:01:00.0" },
		{ "10000:04:00.0", "pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:02.0/10000:03:00.0" } };
	static const struct device odd[] = { { "0000:01:00.0", NULL }, { "0000:02:00.0", "nothing/here" },
		{ "0000:03:00.0", "pci0000:00" } };

	is_str(joined(four, 4, GPU_NVIDIA, GPU_JOIN_SWITCH), "1133", "two GPUs beneath each of two switches");
	is_str(joined(four, 4, GPU_NVIDIA, GPU_JOIN_OUTER), "1133", "  which are the outermost ones, too");
	is_str(joined(four, 4, GPU_NVIDIA, GPU_JOIN_LINK), "0000", "  without links");
	is_str(joined(four, 1, GPU_NVIDIA, GPU_JOIN_SWITCH), "0", "one GPU alone is not joined");
	is_str(joined(nested, 6, GPU_INTEL, GPU_JOIN_SWITCH), "113350", "switches beneath a switch");
	is_str(joined(nested, 6, GPU_INTEL, GPU_JOIN_OUTER), "111110", "  and the outer one");
	is_str(joined(own, 4, GPU_AMD, GPU_JOIN_SWITCH), "0033", "a card's own switch joins nothing");
	is_str(joined(guest, 2, GPU_NVIDIA, GPU_JOIN_OUTER), "00", "the root bus is no switch");
	is_str(joined(arm, 2, GPU_NVIDIA, GPU_JOIN_OUTER), "00", "a platform device is none");
	is_str(joined(managed, 2, GPU_NVIDIA, GPU_JOIN_OUTER), "00", "a volume management device is none");
	is_str(joined(odd, 3, GPU_NVIDIA, GPU_JOIN_SWITCH), "000", "links of another form, and none, join nothing");
}

static void
test_parts(void)
{
	static const struct device parts[] = { { "0000:19:00.0", "pci0000:16/0000:16:02.0/0000:17:00.0" },
		{ "0000:19:00.0", "pci0000:16/0000:16:02.0/0000:17:00.0" }, { "0000:1a:00.0", "pci0000:16/0000:16:02.0/0000:18:00.0" } };

	is_str(joined(parts, 2, GPU_NVIDIA, GPU_JOIN_SWITCH), "00", "a GPU's parts are not joined to it by a switch");
	is_str(joined(parts, 3, GPU_NVIDIA, GPU_JOIN_SWITCH), "111", "parts have what their GPU has");
}

static void
test_links(void)
{
	static const struct device two[] = { { "0000:01:00.0", "pci0000:00" }, { "0000:02:00.0", "pci0000:00" } };

	(void)mkdirat(root, "proc", 0755);
	(void)mkdirat(root, "proc/driver", 0755);
	(void)mkdirat(root, "proc/driver/nvidia-nvswitch", 0755);
	(void)mkdirat(root, "proc/driver/nvidia-nvswitch/devices", 0755);
	is_str(joined(two, 2, GPU_NVIDIA, GPU_JOIN_LINK), "00", "the driver of NVSwitches without one joins nothing");
	(void)mkdirat(root, "proc/driver/nvidia-nvswitch/devices/0000:c5:00.0", 0755);
	is_str(joined(two, 2, GPU_NVIDIA, GPU_JOIN_LINK), "11", "an NVSwitch joins the GPUs");
	is_str(joined(two, 2, GPU_AMD, GPU_JOIN_LINK), "00", "  of NVIDIA");
}

/* A link may come with any number: that of an XGMI hive, folded. */
static void
test_numbers(void)
{
	static const uint32_t given[] = { 0xdeadbeef, 0, 7, 0xdeadbeef };
	struct gpu gpu[4];
	struct inventory inv = { .gpu = gpu, .gpus = 4 };
	size_t i;

	for (i = 0; i < 4; i++) {
		gpu[i] = (struct gpu){ .vendor = GPU_AMD, .joined = { given[i] } };
		snprintf(gpu[i].pci, sizeof(gpu[i].pci), "0000:7%zu:00.0", i);
	}
	topology_find(root, &inv);
	ok(gpu[0].joined[0] == 1 && gpu[1].joined[0] == 0 && gpu[2].joined[0] == 3 && gpu[3].joined[0] == 1,
	    "each gets the number of the first GPU with the same link");
	inv.gpus = 1;
	gpu[0].joined[0] = 0xdeadbeef;
	topology_find(root, &inv);
	is_int(gpu[0].joined[0], 1, "a GPU alone, too");
}

int
main(void)
{
	char clean[64];

	if (mkdtemp(top) == NULL || (root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		bail("mkdtemp");
	(void)mkdirat(root, "sys", 0755);
	(void)mkdirat(root, "sys/bus", 0755);
	(void)mkdirat(root, "sys/bus/pci", 0755);
	(void)mkdirat(root, "sys/bus/pci/devices", 0755);
	test_switches();
	test_parts();
	test_links();
	test_numbers();
	snprintf(clean, sizeof(clean), "rm -rf %s", top);
	ok(system(clean) == 0, "the temporary tree is removed");
	return done_testing();
}
