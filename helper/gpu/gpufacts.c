/*
 * See gpufacts.h. Assumes that texts are the kernel's and mean what the cited sources print, but that any
 * byte may be wrong and the end missing. Must never guess a number: refuses what can't be read, or leaves it
 * unknown.
 */
#include "gpufacts.h"

#include <stdio.h>
#include <string.h>

#include "../base/text.h"
#include "../kernel/hexform.h"
#include "../kernel/kerneltext.h"

#define VENDOR_AMD 0x1002

/* Writes "GPU-" and the five groups of hex digits in lower case; "" for any other value. */
static void
nvidia_uuid(const char *value, char out[48])
{
	static const char form[] = NVIDIA_UUID_FORM;
	size_t i;

	out[0] = '\0';
	if (!has_hex_form(value, form))
		return;
	for (i = 0; form[i] != '\0'; i++)
		out[i] = form[i] == 'h' ? "0123456789abcdef"[hex_digit(value[i])] : form[i];
	out[i] = '\0';
}

/* Marks a GPU that the driver lists but excludes; drivers up to 450 said «blacklisted». */
static void
nvidia_excluded(const char *text, struct gpu *out)
{
	static const char *const keys[] = { "GPU Excluded", "Blacklisted" };
	char value[16];
	size_t i;
	int n;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		n = kernel_field(text, keys[i], ':', value, sizeof(value));
		if (n == 0 || (n == 1 && strcmp(value, "No") == 0))
			continue;
		snprintf(out->unusable, sizeof(out->unusable), "%s",
		    n == 1 && strcmp(value, "Yes") == 0 ?
		    "excluded by the driver: see its parameter NVreg_ExcludedGpus" :
		    "its information file does not say whether it is excluded: see dmesg");
	}
}

int
nvidia_information_parse(const char *address, const char *text, struct gpu *out,
    uint32_t *minor, struct why *why)
{
	char value[128], pci[16];

	*out = (struct gpu){ .vendor = GPU_NVIDIA, .unusable = "not read" };
	if (!pci_address_normalise(address, out->pci))
		return refuse(why, WHY_IO,
		    "/proc/driver/nvidia/gpus/%.64s: not the name of a PCI device", address);
	if (*text == '\0')
		return refuse(why, WHY_ABSENT,
		    "its information file is empty: see dmesg for why it does not wake up");
	if (kernel_field(text, "Bus Location", ':', value, sizeof(value)) != 1 ||
	    !pci_address_normalise(value, pci) || strcmp(pci, out->pci) != 0)
		return refuse(why, WHY_IO,
		    "its information file does not say Bus Location %s: see dmesg", out->pci);
	if (kernel_field(text, "Device Minor", ':', value, sizeof(value)) != 1 ||
	    !text_u32(value, 0, NVIDIA_MINOR_MAX, minor))
		return refuse(why, WHY_IO,
		    "its information file has no Device Minor from 0 to %d: see dmesg",
		    NVIDIA_MINOR_MAX);
	if (kernel_field(text, "Model", ':', value, sizeof(value)) == 1)
		text_printable(out->model, sizeof(out->model), value);
	if (kernel_field(text, "GPU UUID", ':', value, sizeof(value)) == 1)
		nvidia_uuid(value, out->uuid);
	out->unusable[0] = '\0';
	nvidia_excluded(text, out);
	return 0;
}

/* Reads a property; 0 if older kernels lack it. False if it is no number or is there twice. */
static bool
kfd_property(const char *text, const char *key, bool needed, uint64_t *out)
{
	char value[32];
	int n = kernel_field(text, key, ' ', value, sizeof(value));

	*out = 0;
	if (n == 0)
		return !needed;
	return n == 1 && text_u64(value, UINT64_MAX, out);
}

int
kfd_node_parse(const char *gpu_id_text, const char *properties_text, struct kfd_node *out,
    struct why *why)
{
	uint64_t minor = 0;
	const struct {
		const char *key;
		bool needed;
		uint64_t *value;
	} property[] = {
		{ "cpu_cores_count", true, &out->cpu_cores_count },
		{ "simd_count", true, &out->simd_count },
		{ "vendor_id", true, &out->vendor_id },
		{ "location_id", true, &out->location_id },
		{ "drm_render_minor", true, &minor },
		{ "domain", false, &out->domain },
		{ "unique_id", false, &out->unique_id },
		{ "gfx_target_version", false, &out->gfx_target_version },
		{ "hive_id", false, &out->hive_id },
	};
	size_t len = strlen(properties_text), i;
	const char *p = gpu_id_text;
	struct kernel_line l;
	char value[32];

	*out = (struct kfd_node){ .drm_render_minor = -1 };
	if (!kernel_next_line(&p, &l) || *p != '\0' || !kernel_line_copy(&l, value, sizeof(value)) ||
	    !text_u64(value, UINT32_MAX, &out->gpu_id))
		return refuse(why, WHY_IO, "its gpu_id is not a number: see dmesg");
	if (len == 0 || properties_text[len - 1] != '\n')
		return refuse(why, WHY_IO, "its properties are empty or cut off: see dmesg");
	for (i = 0; i < sizeof(property) / sizeof(*property); i++)
		if (!kfd_property(properties_text, property[i].key, property[i].needed,
		    property[i].value))
			return refuse(why, WHY_IO, "its %s is not one number: see dmesg",
			    property[i].key);
	/*
	 * The kernel prints an int with %u, so «no render node» is 0 or 4294967295 (-1). Numbers below 128
	 * are cards, which must not pass for render nodes.
	 */
	if (minor >= RENDER_MINOR_MIN && minor <= MINOR_MAX)
		out->drm_render_minor = (int64_t)minor;
	return 0;
}

bool
kfd_node_is_gpu(const struct kfd_node *k)
{
	return k->gpu_id != 0 && k->simd_count > 0 && k->vendor_id == VENDOR_AMD &&
	    k->drm_render_minor > 0;
}

bool
kfd_node_address(const struct kfd_node *k, char out[16])
{
	/*
	 * The lower 16 bits are pci_dev_id(). Bits 28 and up are the partition's number (kernel: "node id =
	 * location_id[31:28]"), and the bits between are unused.
	 */
	if (k->domain > 0xfffffff || k->location_id > UINT32_MAX ||
	    (k->location_id & 0x0fff0000) != 0)
		return false;
	pci_address_print(k->domain << 16 | (k->location_id & 0xffff), out);
	return true;
}

bool
kfd_node_integrated(const struct kfd_node *k)
{
	/*
	 * The topology does not say that a GPU is part of an APU, but only APUs have these instruction sets
	 * (amdkfd/kfd_device.c, kgd2kfd_probe): Kaveri, Carrizo, Raven, Renoir, Cyan Skillfish, Van Gogh,
	 * Rembrandt, Raphael, Phoenix, Strix and successors. A unique_id of 0 alone proves nothing, because
	 * many cards before gfx1030 have none. A GPU newer than this list has one unless it is integrated.
	 */
	static const uint32_t apu[] = {
		70000, 80001, 90002, 90012, 100103, 100303, 100305, 100306, 110003, 110500,
		110501, 110502, 110503,
	};
	const uint32_t newest = 120001;
	size_t i;

	if (k->cpu_cores_count > 0)
		return true;
	for (i = 0; i < sizeof(apu) / sizeof(*apu); i++)
		if (k->gfx_target_version == apu[i])
			return true;
	return k->unique_id == 0 && k->gfx_target_version > newest;
}

void
kfd_node_model(const struct kfd_node *k, char *out, size_t size)
{
	unsigned v = k->gfx_target_version > 999999 ? 0 : (unsigned)k->gfx_target_version;

	/* 90010 is major 9, minor 0, stepping 10: gfx90a */
	if (v == 0)
		snprintf(out, size, "AMD GPU");
	else
		snprintf(out, size, "gfx%u%x%x", v / 10000, v / 100 % 100, v % 100);
}

/* "0x1002" */
static bool
pci_id(const char *s, uint32_t *out)
{
	if (s == NULL || !text_starts(s, "0x"))
		return false;
	s += 2;
	return hex_digits(&s, 1, 8, out) && *s == '\0';
}

/*
 * True for a partition other than a GPU's first. These are DRM devices of a platform device, "amdgpu_xcp.1"
 * or "amdgpu_xcp_1", without a link to the GPU (kernel: drm/amd/amdxcp/amdgpu_xcp_drv.c).
 */
static bool
is_amdgpu_xcp(const struct drm_facts *f)
{
	static const char xcp[] = "amdgpu_xcp";
	char after;

	if (f->bus == NULL || strcmp(f->bus, "platform") != 0 || f->parent == NULL ||
	    !text_starts(f->parent, xcp))
		return false;
	after = f->parent[sizeof(xcp) - 1];
	return after == '\0' || after == '.' || after == '_';
}

/* Gets kind, number and path of the node. False if they contradict each other. */
static bool
drm_name(const struct drm_facts *f, struct drm_node *out)
{
	static const struct {
		const char *name, *dir;
		uint32_t major, least;
	} kind[] = {
		[DRM_RENDER] = { "renderD", "dri", DRM_MAJOR, RENDER_MINOR_MIN },
		[DRM_CARD] = { "card", "dri", DRM_MAJOR, 0 },
		[DRM_ACCEL] = { "accel", "accel", ACCEL_MAJOR, 0 },
	};
	uint32_t number;
	unsigned i;

	for (i = 0; i < sizeof(kind) / sizeof(*kind); i++)
		if (f->name != NULL && text_starts(f->name, kind[i].name) &&
		    text_u32(f->name + strlen(kind[i].name), kind[i].least, MINOR_MAX, &number))
			break;
	if (i == sizeof(kind) / sizeof(*kind) || f->major != kind[i].major || f->minor != number)
		return false;
	*out = (struct drm_node){ .kind = (enum drm_kind)i, .major = f->major, .minor = f->minor };
	snprintf(out->path, sizeof(out->path), "/dev/%s/%s%u", kind[i].dir, kind[i].name, number);
	return f->devnode == NULL || strcmp(f->devnode, out->path) == 0;
}

bool
drm_node_make(const struct drm_facts *f, struct drm_node *out)
{
	const char *driver = f->driver == NULL ? "" : f->driver;

	if (!drm_name(f, out))
		return false;
	if (is_amdgpu_xcp(f)) {
		snprintf(out->driver, sizeof(out->driver), "amdgpu_xcp");
		return true;
	}
	if (f->bus == NULL || strcmp(f->bus, "pci") != 0)
		return true;
	if (f->parent == NULL || !pci_address_normalise(f->parent, out->pci) ||
	    !pci_id(f->vendor, &out->vendor) || !pci_id(f->device, &out->device) ||
	    !pci_id(f->class, &out->class) || strlen(driver) >= sizeof(out->driver))
		return false;
	memcpy(out->driver, driver, strlen(driver) + 1);
	return true;
}
