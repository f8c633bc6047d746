/*
 * See vendorenv.h. nvidia-container-toolkit accepts UUIDs, and ranks that it may count differently.
 * amd-container-toolkit accepts ranks, and «0x» with the unique id, which all partitions of a GPU share.
 */
#include "vendorenv.h"

#include <string.h>

#include "gpufind.h"

static const char *const capabilities[] = { "compute", "utility", "graphics", "video", "display", "ngx", "compat32",
	NULL };

static int
add_device_name(const struct inventory *inv, const struct gpu *g, struct buf *b, struct why *why)
{
	char part[16];

	gpu_part(inv, g, part);
	if (part[0] != '\0')
		return refuse(why, WHY_DENIED, "%s GPU %s part %s can't be named to a vendor's runtime: with driver_files = "
		    "\"vendor-runtime\" only whole GPUs are given", gpu_vendor_name(g->vendor), g->pci, part);
	if (g->uuid[0] == '\0')
		return refuse(why, WHY_ABSENT, "%s GPU %s has no UUID by which a vendor's runtime (driver_files in gpuhelper.conf) "
		    "could be told of it", gpu_vendor_name(g->vendor), g->pci);
	buf_printf(b, "%s%s", b->len > 0 && b->p[b->len - 1] != '=' ? "," : "", g->uuid);
	return 0;
}

static int
add_variable(struct strlist *out, struct buf *b, struct why *why)
{
	return !b->failed && strlist_add(out, b->p, SIZE_MAX) ? 0 : refuse_nomem(why);
}

/*
 * Adds NAME=UUID,UUID for a vendor's GPUs, and their capabilities to *wanted. 0, 1 if none of them is
 * granted, or -1 with *why.
 */
static int
add_visible_devices(const struct inventory *inv, enum gpu_vendor vendor, const struct vendor_grant *granted, size_t n,
    const char *name, unsigned *wanted, struct strlist *out, struct why *why)
{
	autobuf struct buf b = { 0 };
	size_t i, there = 0;

	*wanted = 0;
	buf_printf(&b, "%s=", name);
	for (i = 0; i < n; i++) {
		if (granted[i].gpu->vendor != vendor)
			continue;
		there++;
		*wanted |= granted[i].capabilities;
		if (add_device_name(inv, granted[i].gpu, &b, why) == -1)
			return -1;
	}
	return there == 0 ? 1 : add_variable(out, &b, why);
}

static int
add_capabilities(unsigned wanted, struct strlist *out, struct why *why)
{
	autobuf struct buf b = { 0 };
	const char *comma = "";
	unsigned bit;
	size_t i;

	buf_puts(&b, "NVIDIA_DRIVER_CAPABILITIES=");
	for (i = 0; capabilities[i] != NULL; i++)
		if (gpu_capability_parse(capabilities[i], &bit) && (wanted & bit) != 0) {
			buf_printf(&b, "%s%s", comma, capabilities[i]);
			comma = ",";
		}
	return add_variable(out, &b, why);
}

int
vendor_env(const struct inventory *inv, const struct vendor_grant *granted, size_t n, struct strlist *out,
    struct why *why)
{
	unsigned wanted;
	int ret;

	if ((ret = add_visible_devices(inv, GPU_NVIDIA, granted, n, "NVIDIA_VISIBLE_DEVICES", &wanted, out, why)) == -1 ||
	    (ret == 0 && add_capabilities(wanted, out, why) == -1))
		return -1;
	return add_visible_devices(inv, GPU_AMD, granted, n, "AMD_VISIBLE_DEVICES", &wanted, out, why) == -1 ? -1 : 0;
}
