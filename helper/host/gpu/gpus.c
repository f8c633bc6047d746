/*
 * See gpus.h. Reads procfs and sysfs beneath one directory, never through a symbolic link, and asks src->drm (udev.c,
 * nodrm.c). nogpu.c looks for nodes in its dev/. gpu/gpu.c parses what it can parse. Must open no device node and load
 * no module. Where there are two sources, both must agree: kfd and udev on the address of an AMD GPU.
 * Without src->drm, DRM devices are read from plain directories in sys/class/drm. A running host has
 * symbolic links there, so this works only on a copy of a sysfs tree, such as a fixture.
 */
#include "gpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../cdi/nvlibs.h"
#include "../../gpu/gpufacts.h"
#include "../../gpu/gpufind.h"
#include "../file.h"
#include "gputext.h"
#include "topology.h"
#include "majors.h"
#include "miginstances.h"
#include "nogpu.h"

#define DRAWS ((unsigned)(GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY))
/* whatever uses the GPU's memory; nvidia-smi and other management tools do without nvidia-uvm */
#define COMPUTES ((unsigned)(GPU_CAP_COMPUTE | GPU_CAP_GRAPHICS | GPU_CAP_VIDEO | \
    GPU_CAP_DISPLAY | GPU_CAP_NGX | GPU_CAP_COMPAT32))

/* Writes a reason into one of the inventory's fields, cut to fit. */
static void __attribute__((format(printf, 3, 4)))
write_reason(char *dst, size_t size, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	text_printable(dst, size, line);
}

#define unusable(g, ...) write_reason((g)->unusable, sizeof((g)->unusable), __VA_ARGS__)
#define absent(inv, v, ...) write_reason((inv)->absent[v], sizeof((inv)->absent[v]), __VA_ARGS__)

/* Adds the DRM nodes of the GPU's PCI device, which are for drawing. */
static void
nvidia_drm_nodes(struct gpu *g, const struct drm_nodes *drm)
{
	const struct drm_node *d;
	struct gpu_node node;
	size_t i;

	for (i = 0; i < drm->n; i++) {
		d = &drm->v[i];
		if (d->kind == DRM_ACCEL || d->vendor != VENDOR_NVIDIA ||
		    strcmp(d->driver, "nvidia") != 0 || strcmp(d->pci, g->pci) != 0)
			continue;
		node = (struct gpu_node){ .major = d->major, .minor = d->minor,
			.needed_for = DRAWS, .optional = true };
		memcpy(node.path, d->path, sizeof(node.path));
		gpu_node_add(g->node, &g->nodes, node);
	}
}

/* Adds the GPU of /proc/driver/nvidia/gpus/NAME. «driver» is /proc/driver/nvidia. */
static int
nvidia_add(int driver, const char *name, const uint32_t *major, const struct drm_nodes *drm, struct inventory *inv,
    struct why *why)
{
	autofree char *text = gpus_read(driver, "gpus/%s/information", name);
	int error = errno;
	struct gpu *g = inventory_add(inv, GPU_NVIDIA);
	struct gpu_node node = { 0 };
	struct why bad;
	uint32_t minor;

	if (g == NULL)
		return refuse_nomem(why);
	if (text == NULL) {
		/* parse an empty text to set the GPU's name, then replace the reason by the real one */
		(void)nvidia_information_parse(name, "", g, &minor, &bad);
		unusable(g, "can't read its information file: %s", strerror(error));
		return 0;
	}
	if (nvidia_information_parse(name, text, g, &minor, &bad) == -1) {
		unusable(g, "%s", bad.text);
		return 0;
	}
	if (major == NULL) {
		unusable(g, "no character device nvidia in /proc/devices: see dmesg");
		return 0;
	}
	node.major = *major;
	node.minor = minor;
	snprintf(node.path, sizeof(node.path), "/dev/nvidia%u", minor);
	gpu_node_add(g->node, &g->nodes, node);
	nvidia_drm_nodes(g, drm);
	return mig_find(driver, inv, inv->gpus - 1, minor, why);
}

/*
 * The version of the loaded module. Only libraries of that version work with it. «driver» is /proc/driver/nvidia, or -1
 * if that is missing.
 */
static void
nvidia_version(int root, int driver, struct inventory *inv)
{
	autofree char *module = gpus_read(root, "sys/module/nvidia/version");
	autofree char *proc = gpus_read(driver, "version");

	if ((module == NULL || !nvidia_version_parse(module, inv->nvidia_version)) && proc != NULL)
		(void)nvidia_version_parse(proc, inv->nvidia_version);
}

/* Adds the nodes that every NVIDIA GPU needs in addition to its own. «major» is that of /dev/nvidia0. */
static void
nvidia_common(struct inventory *inv, uint32_t major)
{
	struct gpu_node *v = inv->common[GPU_NVIDIA];
	size_t *n = &inv->commons[GPU_NVIDIA];
	struct gpu_node ctl = { .path = "/dev/nvidiactl", .major = major, .minor = 255 };
	struct gpu_node uvm = { .path = "/dev/nvidia-uvm", .minor = 0, .needed_for = COMPUTES };
	struct gpu_node tools = { .path = "/dev/nvidia-uvm-tools", .minor = 1,
		.needed_for = COMPUTES, .optional = true };
	struct gpu_node modeset = { .path = "/dev/nvidia-modeset", .minor = 254,
		.needed_for = DRAWS, .optional = true };

	(void)devmajors_char(&inv->majors, "nvidiactl", &ctl.major);
	gpu_node_add(v, n, ctl);
	if (devmajors_char(&inv->majors, "nvidia-uvm", &uvm.major)) {
		tools.major = uvm.major;
		gpu_node_add(v, n, uvm);
		gpu_node_add(v, n, tools);
	} else {
		uvm.major = GPU_NODE_NO_MODULE;
		gpu_node_add(v, n, uvm);
	}
	if (devmajors_char(&inv->majors, "nvidia-modeset", &modeset.major))
		gpu_node_add(v, n, modeset);
}

/* GPUs whose own nodes have the same number can't be told apart: makes them all unusable. */
static void
refuse_same_node(struct inventory *inv, enum gpu_vendor vendor)
{
	struct gpu *a, *b;
	size_t i, j;

	for (i = 0; i < inv->gpus; i++)
		for (j = 0; j < i; j++) {
			a = &inv->gpu[i];
			b = &inv->gpu[j];
			if (a->vendor != vendor || b->vendor != vendor || a->part[0] != '\0' || b->part[0] != '\0' || a->nodes == 0 ||
			    b->nodes == 0 || strcmp(a->node[0].path, b->node[0].path) != 0)
				continue;
			unusable(a, "%s is claimed by %s too: see dmesg", a->node[0].path, b->pci);
			unusable(b, "%s is claimed by %s too: see dmesg", b->node[0].path, a->pci);
		}
}

/* Makes the parts of an unusable GPU unusable, too. */
static void
refuse_parts(struct inventory *inv)
{
	const struct gpu *whole = NULL;
	size_t i;

	/* parts directly follow their GPU */
	for (i = 0; i < inv->gpus; i++)
		if (inv->gpu[i].part[0] == '\0')
			whole = &inv->gpu[i];
		else if (whole != NULL && whole->unusable[0] != '\0' && strcmp(whole->pci, inv->gpu[i].pci) == 0)
			memcpy(inv->gpu[i].unusable, whole->unusable, sizeof(inv->gpu[i].unusable));
}

static int
nvidia_find(int root, const struct drm_nodes *drm, struct inventory *inv, struct why *why)
{
	autoclose int driver = file_open_beneath(root, "proc/driver/nvidia", O_PATH | O_DIRECTORY);
	autofree char *params = driver != -1 ? gpus_read(driver, "params") : NULL;
	const int error = errno;
	autostrlist struct strlist names = { 0 };
	const char *unsupported;
	uint32_t major;
	bool driven;
	size_t i;
	int r;

	/*
	 * the file has the mode of new nodes: without it, a node might be made with a wider mode than the driver allows
	 */
	if (params == NULL && error != ENOENT)
		return refuse(why, WHY_IO, "/proc/driver/nvidia/params: %s", strerror(error));
	nvidia_params_parse(params == NULL ? "" : params, inv);
	nvidia_version(root, driver, inv);
	if ((r = gpus_list(root, "proc/driver/nvidia/gpus", &names, why)) == -1)
		return -1;
	if (names.n == 0 && (unsupported = host_unsupported(root)) != NULL) {
		absent(inv, GPU_NVIDIA, "%s", unsupported);
		return 0;
	}
	if (r == 1) {
		absent(inv, GPU_NVIDIA, "module nvidia is not loaded: if this host has such a GPU, run modprobe nvidia");
		return 0;
	}
	driven = devmajors_char(&inv->majors, "nvidia", &major) ||
	    devmajors_char(&inv->majors, "nvidia-frontend", &major);
	if (driven)
		nvidia_common(inv, major);
	for (i = 0; i < names.n; i++)
		if (nvidia_add(driver, names.v[i], driven ? &major : NULL, drm, inv, why) == -1)
			return -1;
	refuse_same_node(inv, GPU_NVIDIA);
	refuse_parts(inv);
	return 0;
}

static const struct drm_node *
render_node(const struct drm_nodes *drm, uint32_t minor)
{
	size_t i;

	for (i = 0; i < drm->n; i++)
		if (drm->v[i].kind == DRM_RENDER && drm->v[i].minor == minor)
			return &drm->v[i];
	return NULL;
}

static bool
is_partition(const struct drm_node *d)
{
	return d != NULL && strcmp(d->driver, "amdgpu_xcp") == 0;
}

/* Compares what kfd says of a GPU with what udev says of its render node. */
static void
amd_check(struct gpu *g, const struct drm_node *d, bool udev)
{
	const char *path = g->node[0].path;

	if (d == NULL && udev)
		unusable(g, "libudev does not know its %s: see udevadm info %s", path, path);
	else if (d == NULL || is_partition(d))
		return;
	else if (d->vendor != VENDOR_AMD || strcmp(d->driver, "amdgpu") != 0)
		unusable(g, "%s belongs to driver \"%s\" of vendor 0x%04x, not to amdgpu", path,
		    d->driver, d->vendor);
	else if (strcmp(d->pci, g->pci) != 0)
		unusable(g, "kfd says %s is of %s, udev says of %s: see dmesg", path, g->pci,
		    d->pci[0] == '\0' ? "no PCI device" : d->pci);
}

/* Reads a node of the topology's directory. 0: *k is filled; 1: it can't be read, with errno; -1 with *why. */
static int
amd_read(int nodes, const char *name, struct kfd_node *k, struct why *why)
{
	autofree char *id = gpus_read(nodes, "%s/gpu_id", name);
	autofree char *properties = NULL;

	if (id == NULL || (properties = gpus_read(nodes, "%s/properties", name)) == NULL)
		return 1;
	return kfd_node_parse(id, properties, k, why);
}

/* Fills in the GPU of a topology node: its numbers, its node, and whether kfd and udev agree on them. */
static void
amd_fill(struct gpu *g, const struct kfd_node *k, const struct drm_nodes *drm, bool udev)
{
	struct gpu_node node = { .major = 226, .minor = (uint32_t)k->drm_render_minor };

	snprintf(node.path, sizeof(node.path), "/dev/dri/renderD%u", node.minor);
	gpu_node_add(g->node, &g->nodes, node);
	g->integrated = kfd_node_integrated(k);
	kfd_node_model(k, g->model, sizeof(g->model));
	/* the kernel makes XGMI links only between GPUs of one hive (kfd_crat.c). topology_find() makes the number small */
	g->joined[GPU_JOIN_LINK] = (uint32_t)(k->hive_id ^ k->hive_id >> 32);
	if (k->unique_id != 0)
		snprintf(g->uuid, sizeof(g->uuid), "0x%016llx", (unsigned long long)k->unique_id);
	if (kfd_node_address(k, g->pci))
		amd_check(g, render_node(drm, node.minor), udev);
	else
		unusable(g, "kfd's location_id %llu and domain %llu are no PCI address",
		    (unsigned long long)k->location_id, (unsigned long long)k->domain);
}

/* Adds the GPUs of the topology's nodes, and counts those that the kernel hides from this process. */
static int
amd_add(const struct gpu_source *src, const char *dir, const struct strlist *names,
    const struct drm_nodes *drm, struct inventory *inv, unsigned *hidden, struct why *why)
{
	autoclose int nodes = file_open_beneath(src->root, dir, O_PATH | O_DIRECTORY);
	struct kfd_node k;
	struct gpu *g;
	struct why bad;
	uint32_t number;
	size_t i;
	int r;

	for (i = 0; i < names->n; i++) {
		if (!text_u32(names->v[i], 0, UINT32_MAX, &number))
			continue;
		r = amd_read(nodes, names->v[i], &k, &bad);
		if (r == 1 && (errno == EPERM || errno == EACCES)) {
			++*hidden;
			continue;
		}
		if (r == 1)
			refuse(&bad, WHY_IO, "can't be read: %s", strerror(errno));
		if (r == 0 && !kfd_node_is_gpu(&k))
			continue;
		if ((g = inventory_add(inv, GPU_AMD)) == NULL)
			return refuse_nomem(why);
		if (r == 0)
			amd_fill(g, &k, drm, src->drm != NULL);
		else
			unusable(g, "kfd topology node %u: %s", number, bad.text);
	}
	return 0;
}

/* True if the PCI addresses differ in the function at most. */
static bool
same_slot(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return strncmp(a, b, n) == 0 && b[n] == '.';
}

/*
 * Finds the GPU that a partition is part of. A partition's render node has no PCI parent to compare kfd's
 * address with, and some kernels add the partition's number to that address («location_id |= node_id»). So a
 * partition belongs to the GPU in the same slot, whose first partition udev has confirmed. A partition
 * without such a GPU, or with several, can't be used.
 */
static void
amd_adopt(struct inventory *inv, const struct drm_nodes *drm, struct gpu *g)
{
	const struct gpu *o, *owner = NULL;
	size_t i, owners = 0;

	for (i = 0; i < inv->gpus; i++) {
		o = &inv->gpu[i];
		if (o->vendor != GPU_AMD || o->unusable[0] != '\0' || !same_slot(o->pci, g->pci) ||
		    is_partition(render_node(drm, o->node[0].minor)))
			continue;
		owner = o;
		owners++;
		if (strcmp(o->pci, g->pci) == 0) {
			owners = 1;
			break;
		}
	}
	if (owners == 1)
		memcpy(g->pci, owner->pci, sizeof(g->pci));
	else
		unusable(g, "a partition, but %s GPU can be told to be at %s: see dmesg",
		    owners == 0 ? "no" : "not one", g->pci);
}

/* Numbers the partitions of each address in the order of their render nodes. */
static void
amd_partitions(struct inventory *inv, const struct drm_nodes *drm)
{
	struct gpu *g, *o;
	size_t i, j;

	for (i = 0; i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (g->vendor == GPU_AMD && g->unusable[0] == '\0' &&
		    is_partition(render_node(drm, g->node[0].minor)))
			amd_adopt(inv, drm, g);
	}
	for (i = 0; i < inv->gpus; i++)
		for (j = 0; j < inv->gpus; j++) {
			g = &inv->gpu[i];
			o = &inv->gpu[j];
			if (g->vendor == GPU_AMD && o->vendor == GPU_AMD && g->nodes > 0 &&
			    o->nodes > 0 && strcmp(g->pci, o->pci) == 0 &&
			    o->node[0].minor < g->node[0].minor)
				g->partition++;
		}
}

static int
amd_find(const struct gpu_source *src, const struct drm_nodes *drm, struct inventory *inv,
    struct why *why)
{
	/* the device itself, and the place that its class links to; a fixture may have either */
	static const char *const dirs[] = {
		"sys/devices/virtual/kfd/kfd/topology/nodes", "sys/class/kfd/kfd/topology/nodes",
	};
	autostrlist struct strlist names = { 0 };
	struct gpu_node kfd = { .path = "/dev/kfd" };
	unsigned hidden = 0;
	size_t i = 0;
	int r;

	if ((r = gpus_list(src->root, dirs[i], &names, why)) == 1)
		r = gpus_list(src->root, dirs[++i], &names, why);
	if (r == -1)
		return -1;
	if (r == 1 || !devmajors_char(&inv->majors, "kfd", &kfd.major)) {
		absent(inv, GPU_AMD, "%s", r == 1 ?
		    "module amdgpu is not loaded: if this host has such a GPU, run modprobe amdgpu" :
		    "no character device kfd in /proc/devices: see dmesg");
		return 0;
	}
	gpu_node_add(inv->common[GPU_AMD], &inv->commons[GPU_AMD], kfd);
	if (amd_add(src, dirs[i], &names, drm, inv, &hidden, why) == -1)
		return -1;
	refuse_same_node(inv, GPU_AMD);
	amd_partitions(inv, drm);
	if (hidden > 0)
		absent(inv, GPU_AMD, "kfd hides %u GPUs from this process: its cgroup denies their "
		    "render nodes", hidden);
	return 0;
}

/*
 * True for a GPU or NPU that is part of the processor. Intel's integrated GPU is always device 2 of bus 0
 * (its SR-IOV functions are 02.1 to 02.7). A card is behind a bridge, so it is never on bus 0. An NPU is
 * always part of the processor.
 */
static bool
intel_integrated(const struct drm_node *d)
{
	return d->kind == DRM_ACCEL || text_starts(d->pci, "0000:00:02.");
}

static int
intel_find(const struct drm_nodes *drm, struct inventory *inv, struct why *why)
{
	const struct drm_node *d;
	struct gpu_node node;
	struct gpu *g;
	size_t i;

	for (i = 0; i < drm->n; i++) {
		d = &drm->v[i];
		if (d->vendor != VENDOR_INTEL)
			continue;
		if (!(d->kind == DRM_RENDER && d->class >> 16 == 0x03 &&
		    (strcmp(d->driver, "i915") == 0 || strcmp(d->driver, "xe") == 0)) &&
		    !(d->kind == DRM_ACCEL && strcmp(d->driver, "intel_vpu") == 0))
			continue;
		if ((g = inventory_add(inv, GPU_INTEL)) == NULL)
			return refuse_nomem(why);
		memcpy(g->pci, d->pci, sizeof(g->pci));
		g->integrated = intel_integrated(d);
		if (d->kind == DRM_ACCEL)
			snprintf(g->model, sizeof(g->model), "NPU");
		else
			snprintf(g->model, sizeof(g->model), "Intel 8086:%04x", d->device);
		node = (struct gpu_node){ .major = d->major, .minor = d->minor };
		memcpy(node.path, d->path, sizeof(node.path));
		gpu_node_add(g->node, &g->nodes, node);
	}
	return 0;
}

/* Gets the value of the line KEY=value of a uevent file; NULL if there is none. */
static const char *
uevent_value(const char *text, const char *key, char *out, size_t size)
{
	size_t klen = strlen(key), len;

	for (; (len = strcspn(text, "\n")), text[len] != '\0'; text += len + 1) {
		if (strncmp(text, key, klen) != 0 || text[klen] != '=')
			continue;
		text += klen + 1;
		len = strcspn(text, "\n");
		if (len >= size)
			return NULL;
		memcpy(out, text, len);
		out[len] = '\0';
		return out;
	}
	return NULL;
}

/* The single line of a sysfs attribute, which the caller frees; NULL if it can't be read. */
static char *
read_attribute(int root, const char *dir, const char *name, const char *file)
{
	char *text = gpus_read(root, "%s/%s/%s", dir, name, file);

	if (text != NULL)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

/* Reads a device of a copied sysfs tree. False if it is no DRM or accel node. */
static bool
sysfs_device(int root, const char *dir, const char *name, struct drm_node *out)
{
	autofree char *dev = read_attribute(root, dir, name, "dev");
	autofree char *vendor = read_attribute(root, dir, name, "device/vendor");
	autofree char *device = read_attribute(root, dir, name, "device/device");
	autofree char *class = read_attribute(root, dir, name, "device/class");
	autofree char *uevent = gpus_read(root, "%s/%s/device/uevent", dir, name);
	char driver[64], slot[64], alias[64];
	struct drm_facts f = { .name = name, .vendor = vendor, .device = device, .class = class };
	char *colon = dev == NULL ? NULL : strchr(dev, ':');

	if (colon == NULL)
		return false;
	*colon = '\0';
	if (!text_u32(dev, 0, 4095, &f.major) || !text_u32(colon + 1, 0, UINT32_MAX, &f.minor))
		return false;
	if (uevent != NULL) {
		f.driver = uevent_value(uevent, "DRIVER", driver, sizeof(driver));
		if ((f.parent = uevent_value(uevent, "PCI_SLOT_NAME", slot, sizeof(slot))) != NULL)
			f.bus = "pci";
		else if (uevent_value(uevent, "MODALIAS", alias, sizeof(alias)) != NULL &&
		    text_starts(alias, "platform:")) {
			f.bus = "platform";
			f.parent = alias + strlen("platform:");
		}
	}
	return drm_node_make(&f, out);
}

static int
sysfs_drm_nodes(int root, struct drm_nodes *out, struct why *why)
{
	static const char *const dirs[] = { "sys/class/drm", "sys/class/accel" };
	struct drm_node node;
	size_t i, j;

	for (i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		autostrlist struct strlist names = { 0 };

		if (gpus_list(root, dirs[i], &names, why) == -1)
			return -1;
		for (j = 0; j < names.n; j++)
			if (sysfs_device(root, dirs[i], names.v[j], &node) &&
			    !drm_nodes_add(out, &node))
				return refuse_nomem(why);
	}
	return 0;
}

int
gpus_drm_nodes(const struct gpu_source *src, struct drm_nodes *out, struct why *why)
{
	*out = (struct drm_nodes){ 0 };
	return src->drm != NULL ? src->drm->list(true, true, out, why) : sysfs_drm_nodes(src->root, out, why);
}

/* Says why a vendor that was looked for has no usable GPU, or clears the reason if it has one. */
static void
resolve_absent(struct inventory *inv, enum gpu_vendor v)
{
	static const char *const none[GPU_VENDORS] = {
		[GPU_NVIDIA] = "module nvidia drives no GPU on this host: see dmesg",
		[GPU_AMD] = "kfd knows no GPU on this host: see dmesg",
		[GPU_INTEL] = "no GPU of driver i915 or xe and no NPU of intel_vpu on this host",
	};
	const struct gpu *first = NULL, *g;
	size_t i;

	for (i = 0; i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (g->vendor == v && g->unusable[0] == '\0') {
			inv->absent[v][0] = '\0';
			return;
		}
		if (g->vendor == v && first == NULL)
			first = g;
	}
	if (inv->absent[v][0] != '\0')
		return;
	if (first == NULL)
		absent(inv, v, "%s", none[v]);
	else
		absent(inv, v, "no usable GPU: %s: %s",
		    first->pci[0] == '\0' ? "?" : first->pci, first->unusable);
}

/*
 * Notes nodes from which udev removes ACL entries of users, for drivers outside the subsystems drm and accel.
 */
static int
note_flushed(const struct drm_source *src, struct inventory *inv, const struct gpu_node *v, size_t n, struct why *why)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (v[i].major != GPU_NODE_NO_MODULE && !text_starts(v[i].path, "/dev/dri/") &&
		    !text_starts(v[i].path, "/dev/accel/") && src->clears_users(v[i].major, v[i].minor) &&
		    !inventory_add_udev_clears(inv, v[i].major, v[i].minor))
			return refuse_nomem(why);
	return 0;
}

static int
find_flushed(const struct drm_source *src, const struct drm_nodes *drm, struct inventory *inv, struct why *why)
{
	size_t i;

	for (i = 0; i < drm->n; i++)
		if (drm->v[i].udev_clears && !inventory_add_udev_clears(inv, drm->v[i].major, drm->v[i].minor))
			return refuse_nomem(why);
	for (i = 0; i < GPU_VENDORS; i++)
		if (note_flushed(src, inv, inv->common[i], inv->commons[i], why) == -1)
			return -1;
	for (i = 0; i < inv->gpus; i++)
		if (note_flushed(src, inv, inv->gpu[i].node, inv->gpu[i].nodes, why) == -1)
			return -1;
	return 0;
}

int
gpus_find(const struct gpu_source *src, unsigned vendors, struct inventory *inv, struct why *why)
{
	const unsigned nvidia = 1U << GPU_NVIDIA, amd = 1U << GPU_AMD, intel = 1U << GPU_INTEL;
	autonodes struct drm_nodes drm = { 0 };
	unsigned v;

	*inv = (struct inventory){ 0 };
	if (majors_read(src->root, &inv->majors, why) == -1)
		return -1;
	if ((src->drm != NULL ? src->drm->list(vendors & nvidia, vendors & intel, &drm, why) :
	    sysfs_drm_nodes(src->root, &drm, why)) == -1)
		return -1;
	if ((vendors & nvidia) && nvidia_find(src->root, &drm, inv, why) == -1)
		return -1;
	if ((vendors & amd) && amd_find(src, &drm, inv, why) == -1)
		return -1;
	if ((vendors & intel) && intel_find(&drm, inv, why) == -1)
		return -1;
	if (src->drm != NULL && find_flushed(src->drm, &drm, inv, why) == -1)
		return -1;
	inventory_rank(inv);
	topology_find(src->root, inv);
	for (v = 0; v < GPU_VENDORS; v++)
		if (vendors & 1U << v)
			resolve_absent(inv, (enum gpu_vendor)v);
		else
			absent(inv, v, "not looked for");
	return 0;
}

int
gpus_here(const struct drm_source *drm, unsigned vendors, struct inventory *inv, struct why *why)
{
	const int root = file_root();
	const struct gpu_source source = { .root = root, .drm = drm };

	*inv = (struct inventory){ 0 };
	return root != -1 ? gpus_find(&source, vendors, inv, why) : refuse(why, WHY_IO, "/: %s", strerror(errno));
}
