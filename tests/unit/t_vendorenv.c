/* gpu/vendorenv.c: a vendor's runtime gets the names of the granted GPUs and of no others. */
#include "base/cleanup.h"
#include "gpu/vendorasks.h"
#include "gpu/vendorenv.h"
#include "gpu/vendorvars.h"
#include "tap.h"

static struct gpu gpus[] = {
	{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .uuid = "GPU-1" },
	{ .vendor = GPU_NVIDIA, .pci = "0000:af:00.0", .uuid = "GPU-2" },
	{ .vendor = GPU_AMD, .pci = "0000:03:00.0", .uuid = "0x00000000000000ab" },
	{ .vendor = GPU_INTEL, .pci = "0000:04:00.0" },
	{ .vendor = GPU_NVIDIA, .pci = "0000:c0:00.0" },
	{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .uuid = "GPU-1", .part = "1:0" },
	{ .vendor = GPU_AMD, .pci = "0000:05:00.0", .uuid = "0x00000000000000cd", .partition = 0 },
	{ .vendor = GPU_AMD, .pci = "0000:05:00.0", .uuid = "0x00000000000000cd", .partition = 1 },
};
static const struct inventory inv = { .gpu = gpus, .gpus = sizeof(gpus) / sizeof(gpus[0]) };

/* The entries for the GPUs at these places (the list ends with -1), or the refusal. */
static const char *
env(const int *which, unsigned capabilities)
{
	static char text[512];
	struct vendor_grant granted[8];
	autostrlist struct strlist out = { 0 };
	struct why why = { 0 };
	size_t n = 0, i, at = 0;

	for (; which[n] >= 0; n++)
		granted[n] = (struct vendor_grant){ &gpus[which[n]], capabilities };
	text[0] = '\0';
	if (vendor_env(&inv, granted, n, &out, &why) == -1)
		snprintf(text, sizeof(text), "%s", why.text);
	else
		for (i = 0; i < out.n; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i > 0 ? " " : "", out.v[i]);
	return text;
}
#define ENV(caps, ...) env((const int[]){ __VA_ARGS__, -1 }, caps)

int
main(void)
{
	is_str(ENV(GPU_CAP_COMPUTE, 0),
	    "NVIDIA_VISIBLE_DEVICES=GPU-1 NVIDIA_DRIVER_CAPABILITIES=compute",
	    "one NVIDIA GPU is named");
	is_str(ENV(GPU_CAP_COMPUTE | GPU_CAP_UTILITY | GPU_CAP_COMPAT32, 0, 1),
	    "NVIDIA_VISIBLE_DEVICES=GPU-1,GPU-2 "
	    "NVIDIA_DRIVER_CAPABILITIES=compute,utility,compat32",
	    "two NVIDIA GPUs are named in their order");
	is_str(ENV(GPU_CAP_COMPUTE, 2), "AMD_VISIBLE_DEVICES=0x00000000000000ab",
	    "an AMD GPU is named");
	is_str(ENV(GPU_CAP_COMPUTE, 1, 2),
	    "NVIDIA_VISIBLE_DEVICES=GPU-2 NVIDIA_DRIVER_CAPABILITIES=compute "
	    "AMD_VISIBLE_DEVICES=0x00000000000000ab",
	    "GPUs of both vendors are named");
	is_str(ENV(GPU_CAP_COMPUTE, 3), "",
	    "an Intel GPU is not named, because Intel has no such runtime");
	is_str(ENV(GPU_CAP_COMPUTE, -1), "", "without a grant no GPU is named");
	ok(strstr(ENV(GPU_CAP_COMPUTE, 4), "has no UUID") != NULL,
	    "a GPU without a UUID is refused");
	ok(strstr(ENV(GPU_CAP_COMPUTE, 5), "part 1:0 can't be named") != NULL,
	    "a MIG instance is refused");
	ok(strstr(ENV(GPU_CAP_COMPUTE, 6), "part 0 can't be named") != NULL,
	    "a partition, which shares its GPU's id, is refused");
	ok(vendor_env_owns("NVIDIA_VISIBLE_DEVICES") && vendor_env_owns("AMD_VISIBLE_DEVICES=all") &&
	    vendor_env_owns("NVIDIA_DRIVER_CAPABILITIES="),
	    "the variables that gpuhelper sets are recognised");
	ok(!vendor_env_owns("NVIDIA_VISIBLE_DEVICESX=1") && !vendor_env_owns("") &&
	    !vendor_env_owns("NVIDIA"),
	    "other variables are not");
	ok(vendor_env_asks("AMD_VISIBLE_DEVICES=all") && vendor_env_asks("NVIDIA_MIG_CONFIG_DEVICES=all") &&
	    vendor_env_asks("NVIDIA_IMEX_CHANNELS") && vendor_env_asks("DOCKER_RESOURCE_GPU=0"),
	    "the other variables that such a runtime reads are recognised");
	ok(!vendor_env_asks("NVIDIA_CTK_LIBCUDA_DIR=/usr/lib") && !vendor_env_asks("NVIDIA_GDSX=1"),
	    "variables that it does not read are not");
	ok(vendor_mount_asks("/var/run/nvidia-container-devices/void") && vendor_mount_asks("/run/nvidia-container-devicesall"),
	    "mounts that such a runtime reads are recognised");
	ok(!vendor_mount_asks("/var/run/nvidia-persistenced/socket") && !vendor_mount_asks("/srv/run/nvidia-container-devices"),
	    "other mounts are not");
	return done_testing();
}
