/*
 * See gpu.h.  The texts are the kernel's, so they may be assumed to mean what
 * the cited sources print, and nothing more: any byte may be wrong and the end
 * may be missing.  A line that does not end in a newline is not a line.  Never
 * guesses a number: what can't be read is refused, or left unknown.
 */
#include "gpu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mig.h"
#include "text.h"

#define VENDOR_AMD 0x1002
#define DRM_MAJOR 226		/* fixed: include/uapi/linux/major.h, drm/drm_accel.h */
#define RENDER_MINOR_MIN 128
#define ACCEL_MAJOR 261
#define NVIDIA_MAJOR 195
#define NVIDIA_MINOR_MAX 247	/* nv-chardev-numbers.h: more are control nodes */
#define MINOR_MAX ((1U << 20) - 1)

static const char *const vendor_names[GPU_VENDORS] = { "nvidia", "amd", "intel" };

const char *
gpu_vendor_name(enum gpu_vendor v)
{
	return (unsigned)v < GPU_VENDORS ? vendor_names[v] : "unknown";
}

bool
gpu_vendor_parse(const char *name, enum gpu_vendor *v)
{
	unsigned i;

	for (i = 0; i < GPU_VENDORS; i++)
		if (strcmp(name, vendor_names[i]) == 0) {
			*v = (enum gpu_vendor)i;
			return true;
		}
	return false;
}

bool
gpu_capability_parse(const char *name, unsigned *bit)
{
	static const char *const names[] = {
		"compute", "utility", "graphics", "video", "display", "ngx", "compat32",
	};
	const unsigned n = sizeof(names) / sizeof(*names);
	unsigned i;

	if (strcmp(name, "all") == 0) {
		*bit = (1U << n) - 1;
		return true;
	}
	for (i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0) {
			*bit = 1U << i;
			return true;
		}
	return false;
}

int
gpu_node_check(const struct gpu_node *n, struct why *why)
{
	char module[sizeof(n->path)];
	size_t i;

	if (n->major != GPU_NODE_NO_MODULE)
		return 0;
	/* the kernel writes a module's name with '_' where its device has '-' */
	snprintf(module, sizeof(module), "%s", n->path + strlen("/dev/"));
	for (i = 0; module[i] != '\0'; i++)
		if (module[i] == '-')
			module[i] = '_';
	return refuse(why, WHY_ABSENT, "%s: module %s is not loaded: run modprobe %s", n->path,
	    module, module);
}

struct line {
	const char *s;
	size_t len;
};

/* Takes the next whole line from *text, without its newline; what is left at the end is cut off. */
static bool
next_line(const char **text, struct line *l)
{
	const char *end = strchr(*text, '\n');

	if (end == NULL)
		return false;
	l->s = *text;
	l->len = (size_t)(end - *text);
	*text = end + 1;
	return true;
}

static bool
line_is(const struct line *l, const char *s)
{
	return l->len == strlen(s) && memcmp(l->s, s, l->len) == 0;
}

/* Copies the line without the blanks at its ends; false if it does not fit. */
static bool
line_copy(const struct line *l, char *out, size_t size)
{
	const char *s = l->s;
	size_t len = l->len;

	while (len > 0 && (*s == ' ' || *s == '\t'))
		s++, len--;
	while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	if (len >= size)
		return false;
	memcpy(out, s, len);
	out[len] = '\0';
	return true;
}

/*
 * The value of the one line «key» «sep» «value».  1: found; 0: there is none;
 * -1: there are several, or it is too long to be what it should be.
 */
static int
field(const char *text, const char *key, char sep, char *out, size_t size)
{
	size_t klen = strlen(key);
	struct line l, value;
	int found = 0;

	while (next_line(&text, &l)) {
		if (l.len <= klen || memcmp(l.s, key, klen) != 0 || l.s[klen] != sep)
			continue;
		value = (struct line){ l.s + klen + 1, l.len - klen - 1 };
		if (found || !line_copy(&value, out, size))
			return -1;
		found = 1;
	}
	return found;
}

/* One line "195 nvidia" of a section of /proc/devices. */
static bool
devmajor_parse(const struct line *l, char type, struct devmajor *out)
{
	char line[sizeof(out->name) + 16], *name;

	if (!line_copy(l, line, sizeof(line)) || (name = strchr(line, ' ')) == NULL)
		return false;
	*name++ = '\0';
	*out = (struct devmajor){ .type = type };
	if (!text_u32(line, 1, 4095, &out->major) || *name == ' ')
		return false;
	return (size_t)snprintf(out->name, sizeof(out->name), "%s", name) < sizeof(out->name);
}

static bool
devmajors_add(struct devmajors *m, const struct devmajor *d)
{
	struct devmajor *v = reallocarray(m->v, m->n + 1, sizeof(*v));

	if (v == NULL)
		return false;
	m->v = v;
	m->v[m->n++] = *d;
	return true;
}

int
devmajors_parse(const char *text, struct devmajors *out, struct why *why)
{
	struct devmajor d;
	struct line l;
	char type = 0;

	*out = (struct devmajors){ 0 };
	while (next_line(&text, &l)) {
		if (l.len == 0)
			continue;
		if (type == 0 && line_is(&l, "Character devices:"))
			type = 'c';
		else if (type == 'c' && line_is(&l, "Block devices:"))
			type = 'b';
		else if (type == 0 || !devmajor_parse(&l, type, &d)) {
			devmajors_free(out);
			return refuse(why, WHY_IO,
			    "/proc/devices: can't make sense of the line \"%.*s\"",
			    (int)(l.len > 80 ? 80 : l.len), l.s);
		} else if (!devmajors_add(out, &d)) {
			devmajors_free(out);
			return refuse_nomem(why);
		}
	}
	if (type == 0 || *text != '\0') {
		devmajors_free(out);
		return refuse(why, WHY_IO, "/proc/devices: empty or cut off: is /proc mounted?");
	}
	return 0;
}

void
devmajors_free(struct devmajors *m)
{
	free(m->v);
	*m = (struct devmajors){ 0 };
}

bool
devmajors_char(const struct devmajors *m, const char *name, uint32_t *major)
{
	bool found = false;
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (m->v[i].type != 'c' || strcmp(m->v[i].name, name) != 0)
			continue;
		if (found && m->v[i].major != at)
			return false;
		at = m->v[i].major;
		found = true;
	}
	if (found)
		*major = at;
	return found;
}

bool
devmajors_is_gpu(const struct devmajors *m, uint32_t major)
{
	static const char *const names[] = { "drm", "kfd", "accel", "gdrdrv" };
	size_t i, j;

	if (major == NVIDIA_MAJOR || major == DRM_MAJOR || major == ACCEL_MAJOR)
		return true;
	for (i = 0; i < m->n; i++) {
		if (m->v[i].type != 'c' || m->v[i].major != major)
			continue;
		if (text_starts(m->v[i].name, "nvidia"))
			return true;
		for (j = 0; j < sizeof(names) / sizeof(*names); j++)
			if (strcmp(m->v[i].name, names[j]) == 0)
				return true;
	}
	return false;
}

/* The value of a hex digit, -1 if it is none. */
static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Reads min to max (at most 8) hex digits at *s and moves it behind them. */
static bool
hex_digits(const char **s, unsigned min, unsigned max, uint32_t *out)
{
	uint32_t v = 0;
	unsigned n;

	for (n = 0; hex_digit((*s)[n]) >= 0; n++) {
		if (n == max)
			return false;
		v = v << 4 | (uint32_t)hex_digit((*s)[n]);
	}
	if (n < min)
		return false;
	*s += n;
	*out = v;
	return true;
}

/* A PCI address as one number, in the order of addresses: domain, bus, device, function. */
static bool
pci_parse(const char *s, uint64_t *out)
{
	uint32_t domain = 0, bus, dev, fn;
	const char *colon = strchr(s, ':');

	if (colon != NULL && strchr(colon + 1, ':') != NULL &&
	    (!hex_digits(&s, 4, 8, &domain) || *s++ != ':'))
		return false;
	/* seven digits are what struct gpu has room for; real ones have four or five */
	if (domain > 0xfffffff || !hex_digits(&s, 2, 2, &bus) || *s++ != ':' ||
	    !hex_digits(&s, 2, 2, &dev) || *s++ != '.' || !hex_digits(&s, 1, 1, &fn) ||
	    *s != '\0' || dev > 0x1f || fn > 7)
		return false;
	*out = (uint64_t)domain << 16 | bus << 8 | dev << 3 | fn;
	return true;
}

static void
pci_print(uint64_t pci, char out[16])
{
	snprintf(out, 16, "%04x:%02x:%02x.%x", (unsigned)(pci >> 16 & 0xfffffff),
	    (unsigned)(pci >> 8 & 0xff), (unsigned)(pci >> 3 & 0x1f), (unsigned)(pci & 7));
}

bool
pci_address_normalise(const char *s, char out[16])
{
	uint64_t pci;

	if (!pci_parse(s, &pci))
		return false;
	pci_print(pci, out);
	return true;
}

/* Writes "GPU-" and the five groups of hex digits in lower case; "" for anything else. */
static void
nvidia_uuid(const char *value, char out[48])
{
	static const char form[] = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t i;

	out[0] = '\0';
	for (i = 0; form[i] != '\0'; i++) {
		if (form[i] == 'x' ? hex_digit(value[i]) < 0 : value[i] != form[i])
			return;
	}
	if (value[i] != '\0')
		return;
	for (i = 0; form[i] != '\0'; i++)
		out[i] = form[i] == 'x' ? "0123456789abcdef"[hex_digit(value[i])] : form[i];
	out[i] = '\0';
}

/* An excluded GPU is listed but not driven; drivers up to 450 called it blacklisted. */
static void
nvidia_excluded(const char *text, struct gpu *out)
{
	static const char *const keys[] = { "GPU Excluded", "Blacklisted" };
	char value[16];
	size_t i;
	int n;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		n = field(text, keys[i], ':', value, sizeof(value));
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
	if (field(text, "Bus Location", ':', value, sizeof(value)) != 1 ||
	    !pci_address_normalise(value, pci) || strcmp(pci, out->pci) != 0)
		return refuse(why, WHY_IO,
		    "its information file does not say Bus Location %s: see dmesg", out->pci);
	if (field(text, "Device Minor", ':', value, sizeof(value)) != 1 ||
	    !text_u32(value, 0, NVIDIA_MINOR_MAX, minor))
		return refuse(why, WHY_IO,
		    "its information file has no Device Minor from 0 to %d: see dmesg",
		    NVIDIA_MINOR_MAX);
	if (field(text, "Model", ':', value, sizeof(value)) == 1)
		text_printable(out->model, sizeof(out->model), value);
	if (field(text, "GPU UUID", ':', value, sizeof(value)) == 1)
		nvidia_uuid(value, out->uuid);
	out->unusable[0] = '\0';
	nvidia_excluded(text, out);
	return 0;
}

static void
param(const char *text, const char *key, uint32_t max, uint32_t *out)
{
	char value[16];

	if (field(text, key, ':', value, sizeof(value)) == 1)
		(void)text_u32(value, 0, max, out);
}

void
nvidia_params_parse(const char *text, struct inventory *inv)
{
	uint32_t modify = 1;

	inv->nvidia_uid = inv->nvidia_gid = 0;
	inv->nvidia_mode = 0666;
	param(text, "ModifyDeviceFiles", UINT32_MAX, &modify);
	param(text, "DeviceFileUID", UINT32_MAX - 1, &inv->nvidia_uid);
	param(text, "DeviceFileGID", UINT32_MAX - 1, &inv->nvidia_gid);
	param(text, "DeviceFileMode", 0777, &inv->nvidia_mode);
	/* nvidia-modprobe takes any other number as no, too */
	inv->nvidia_modify = modify == 1;
}

/* A property; 0 for one that older kernels lack.  False where it is no number or there twice. */
static bool
kfd_property(const char *text, const char *key, bool needed, uint64_t *out)
{
	char value[32];
	int n = field(text, key, ' ', value, sizeof(value));

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
	};
	size_t len = strlen(properties_text), i;
	const char *p = gpu_id_text;
	struct line l;
	char value[32];

	*out = (struct kfd_node){ .drm_render_minor = -1 };
	if (!next_line(&p, &l) || *p != '\0' || !line_copy(&l, value, sizeof(value)) ||
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
	 * The kernel prints an int with %u: no render node is 0, or -1 and so
	 * 4294967295.  Below 128 are cards, which must not pass for render nodes.
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
	 * pci_dev_id() in 16 bits.  Bits 28 and up are a partition's number (kernel:
	 * "node id = location_id[31:28]"), the ones between are never used.
	 */
	if (k->domain > 0xfffffff || k->location_id > UINT32_MAX ||
	    (k->location_id & 0x0fff0000) != 0)
		return false;
	pci_print(k->domain << 16 | (k->location_id & 0xffff), out);
	return true;
}

bool
kfd_node_integrated(const struct kfd_node *k)
{
	/*
	 * The topology does not say that a GPU is part of an APU, but nothing
	 * else has these instruction sets (amdkfd/kfd_device.c, kgd2kfd_probe):
	 * Kaveri, Carrizo, Raven, Renoir, Cyan Skillfish, Van Gogh, Rembrandt,
	 * Raphael, Phoenix, Strix and its successors.  A unique_id of 0 alone
	 * proves nothing, since many cards before gfx1030 have none; a GPU newer
	 * than this list has one unless it is integrated.
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

	/* 90010: major 9, minor 0, stepping 10, and so gfx90a */
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
 * Partitions other than a GPU's first are DRM devices beneath a platform device
 * of their own, "amdgpu_xcp.1" or "amdgpu_xcp_1", that has no link to the GPU
 * (kernel: drm/amd/amdxcp/amdgpu_xcp_drv.c).
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

/* The node's kind, number and path, which must all say the same. */
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

static int
compare_gpus(const void *pa, const void *pb)
{
	const struct gpu *a = pa, *b = pb;
	uint64_t x = UINT64_MAX, y = UINT64_MAX;

	if (a->vendor != b->vendor)
		return a->vendor < b->vendor ? -1 : 1;
	/* what has no address comes last */
	(void)pci_parse(a->pci, &x);
	(void)pci_parse(b->pci, &y);
	if (x != y)
		return x < y ? -1 : 1;
	if (a->partition != b->partition)
		return a->partition < b->partition ? -1 : 1;
	if (strcmp(a->part, b->part) != 0)
		return mig_part_order(a->part) < mig_part_order(b->part) ? -1 : 1;
	return strcmp(a->node[0].path, b->node[0].path);
}

void
inventory_rank(struct inventory *inv)
{
	unsigned next[GPU_VENDORS] = { 0 };
	struct gpu *g;
	size_t i;

	if (inv->gpus > 0)
		qsort(inv->gpu, inv->gpus, sizeof(*inv->gpu), compare_gpus);
	for (i = 0; i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (g->part[0] != '\0' && i > 0)	/* its GPU came before it */
			g->rank = g[-1].rank;
		else
			g->rank = g->unusable[0] == '\0' ? next[g->vendor]++ : UINT_MAX;
	}
}

/* True for the same bytes, hex digits in either case. */
static bool
same_uuid(const char *a, const char *b)
{
	while (*a != '\0' && (*a == *b || (hex_digit(*a) >= 0 && hex_digit(*a) == hex_digit(*b))))
		a++, b++;
	return *a == '\0' && *b == '\0';
}

bool
gpu_is_named(const struct gpu *g, const char *name, bool by_rank)
{
	bool usable = g->unusable[0] == '\0';
	char pci[16], base[64];
	uint32_t rank;
	size_t i;

	if (strchr(name, '=') != NULL)
		return strlist_has(&g->cdi, name);
	if (text_starts(name, "MIG-")) {
		for (i = 0; i < g->cdi.n; i++)
			if (strcmp(strchr(g->cdi.v[i], '=') + 1, name) == 0)
				return true;
		return false;
	}

	/* an instance that is shared out among others is no GPU by itself */
	if (strcmp(name, "all") == 0)
		return usable && (g->part[0] == '\0' || strchr(g->part, ':') != NULL);
	if (g->part[0] != '\0') {
		if (!mig_name_split(name, g->part, base, sizeof(base)))
			return false;
		name = base;
	}
	if (g->uuid[0] != '\0' && same_uuid(g->uuid, name))
		return true;
	if (g->pci[0] != '\0' && pci_address_normalise(name, pci))
		return strcmp(pci, g->pci) == 0;
	return by_rank && usable && text_u32(name, 0, UINT_MAX - 1, &rank) && rank == g->rank;
}
