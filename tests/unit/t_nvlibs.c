/* cdi/nvlibs.c: the capability to which each file of the NVIDIA driver belongs. */
#include "cdi/nvlibs.h"
#include "gpu/gpufind.h"
#include "tap.h"

#define SHOW (GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY)

/*
 * The lists of libnvidia-container, src/nvc_info.c. The libraries of each list must have at least
 * its capability.
 */
static const struct vendors_list {
	unsigned capability;
	const char *name[14];
} vendors[] = {
	{ GPU_CAP_UTILITY, { "libnvidia-ml", "libnvidia-cfg", "libnvidia-nscq", NULL } },
	{ GPU_CAP_COMPUTE, { "libcuda", "libcudadebugger", "libnvidia-opencl", "libnvidia-gpucomp", "libnvidia-ptxjitcompiler",
	    "libnvidia-fatbinaryloader", "libnvidia-allocator", "libnvidia-compiler", "libnvidia-pkcs11",
	    "libnvidia-pkcs11-openssl3", "libnvidia-nvvm", "libnvidia-tileiras", NULL } },
	{ GPU_CAP_VIDEO, { "libvdpau_nvidia", "libnvidia-encode", "libnvidia-opticalflow", "libnvcuvid", NULL } },
	{ SHOW, { "libnvidia-eglcore", "libnvidia-glcore", "libnvidia-tls", "libnvidia-glsi", "libnvidia-fbc", "libnvidia-ifr",
	    "libnvidia-rtcore", "libnvoptix", NULL } },
	{ SHOW, { "libGLX_nvidia", "libEGL_nvidia", "libGLESv2_nvidia", "libGLESv1_CM_nvidia", "libnvidia-glvkspirv",
	    "libnvidia-cbl", "libGL", "libEGL", "libGLESv1_CM", "libGLESv2", NULL } },
	{ GPU_CAP_NGX, { "libnvidia-ngx", NULL } },
};

static void
test_vendors(void)
{
	static const char *const suffix[] = { ".so", ".so.1", ".so.580.95.05" };
	size_t i, k, s;
	char name[64], path[96];

	for (i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		for (k = 0; vendors[i].name[k] != NULL; k++)
			for (s = 0; s < 3; s++) {
				snprintf(name, sizeof(name), "%s%s", vendors[i].name[k], suffix[s]);
				snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s", name);
				ok((nvlib_capabilities(name) & vendors[i].capability) == vendors[i].capability &&
				    nvfile_capabilities(path) == nvlib_capabilities(name),
				    "%s has the capability of its list", name);
				ok((nvlib_capabilities(name) & GPU_CAP_COMPAT32) == 0,
				    "the name %s does not imply 32 bits", name);
			}
}

static void
test_others(void)
{
	static const char *const not[] = { "", "lib", "libcuda", "libcuda.", "libcudart.so.12", "libcuda.sox", "xlibcuda.so.1",
		"libcuda.1.so", "libc.so.6", "libOpenCL.so.1", "libnvidia-ml", ".so", "/libcuda.so.1" };
	static const struct { const char *path; unsigned capabilities; } files[] = {
		{ "/usr/bin/nvidia-smi", GPU_CAP_UTILITY }, { "/usr/sbin/nvidia-persistenced", GPU_CAP_UTILITY },
		{ "nvidia-smi", GPU_CAP_UTILITY }, { "/usr/bin/nvidia-smi2", 0 }, { "/usr/bin/nvidia-smi/", 0 },
		{ "/usr/bin/nvidia-cuda-mps-control", GPU_CAP_COMPUTE },
		{ "/lib/firmware/nvidia/580.95.05/gsp_ga10x.bin", GPU_CAP_ALL },
		{ "/lib/firmware/updates/6.1.0/nvidia/580.95.05/gsp.bin", GPU_CAP_ALL },
		{ "/lib/firmware/gsp_ga10x.bin", 0 }, { "/lib/firmware/nvidia/580.95.05/gsp", 0 },
		{ "/run/nvidia-persistenced/socket", GPU_CAP_UTILITY }, { "/var/run/nvidia-fabricmanager/socket", GPU_CAP_UTILITY },
		{ "/run/docker/socket", 0 }, { "/tmp/nvidia-mps", GPU_CAP_COMPUTE },
		{ "/etc/OpenCL/vendors/nvidia.icd", GPU_CAP_COMPUTE }, { "/usr/share/glvnd/egl_vendor.d/10_nvidia.json", SHOW },
		{ "/etc/vulkan/icd.d/nvidia_icd.json", SHOW }, { "/usr/share/nvidia/nvoptix.bin", SHOW },
		{ "/usr/lib/xorg/modules/drivers/nvidia_drv.so", GPU_CAP_DISPLAY },
		{ "/usr/lib64/gbm/nvidia-drm_gbm.so", SHOW }, { "/usr/lib64/vdpau/libvdpau_nvidia.so.1", GPU_CAP_VIDEO },
		{ "/etc/passwd", 0 }, { "/", 0 }, { "", 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(not) / sizeof(not[0]); i++)
		ok(nvlib_capabilities(not[i]) == 0 && nvlib_other_name(not[i]) == NULL,
		    "this is no library of the driver: \"%s\"", not[i]);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		is_int(nvfile_capabilities(files[i].path), files[i].capabilities, "\"%s\"", files[i].path);
	is_str(nvlib_other_name("libcuda.so.1"), "libcuda.so", "a library has another name");
	is_str(nvlib_other_name("libnvidia-allocator.so.580.95.05"), "gbm/nvidia-drm_gbm.so",
	    "a library's other name may be in a directory");
	is_str(nvlib_other_name("libnvidia-ml.so.1"), NULL, "a library may have no other name");
}

static void
test_kinds(void)
{
	unsigned all;

	ok(gpu_capability_parse("all", &all) && all == GPU_CAP_ALL,
	    "the capability \"all\" is all of them");
	ok(nvfile_is_mps("/usr/bin/nvidia-cuda-mps-server") && nvfile_is_mps("/tmp/nvidia-mps") && nvfile_is_mps("/tmp/nvidia-mps/control"),
	    "files of MPS are recognised");
	ok(!nvfile_is_mps("/usr/bin/nvidia-smi") && !nvfile_is_mps("/tmp/nvidia-mpsx"),
	    "other files are not taken for MPS's");
	is_str(nvfile_service("/run/nvidia-persistenced/socket"), "nvidia-persistenced", "a service is known by its socket");
	is_str(nvfile_service("/var/run/nvidia-fabricmanager/socket"), "nvidia-fabricmanager", "  the other one, too");
	ok(nvfile_service("/run/nvidia-persistenced/pid") == NULL && nvfile_service("/run/docker/socket") == NULL,
	    "  other files are no socket of these");
	ok(nvlib_own_version("libnvidia-egl-wayland.so.1.1.19") &&
	    nvlib_own_version("libnvidia-api.so.1"),
	    "a library with a version of its own is recognised");
	ok(!nvlib_own_version("libnvidia-nvvm.so.4") && !nvlib_own_version("libcuda.so.1"),
	    "a library with the driver's version is recognised");
}

static void
test_32(void)
{
	static char deb[] = "/usr/lib/i386-linux-gnu/libcuda.so.1", arch[] = "/usr/lib32/vdpau/libvdpau_nvidia.so.1",
	    rhel[] = "/usr/lib/libcuda.so.1", deb64[] = "/usr/lib/x86_64-linux-gnu/libcuda.so.1", rhel64[] = "/usr/lib64/libcuda.so.1",
	    a[] = "/a", b[] = "/b";
	struct cdi_mount m[] = { { .host_path = a, .container_path = rhel }, { .host_path = a, .container_path = deb },
		{ .host_path = b, .container_path = deb64 }, { .host_path = b, .container_path = rhel64 },
		{ .host_path = b, .container_path = rhel }, { .host_path = b, .container_path = arch }, { 0 } };
	struct cdi_edits e = { .mount = m, .mounts = 5 };

	ok(nvmount_is_32(&e, &m[0]) && nvmount_is_32(&e, &m[1]),
	    "32-bit libraries are recognised in both layouts");
	ok(!nvmount_is_32(&e, &m[2]) && !nvmount_is_32(&e, &m[3]) && !nvmount_is_32(&e, &m[4]) && !nvmount_is_32(&e, &m[6]),
	    "64-bit libraries are not taken for 32-bit ones");
	ok(nvmount_is_32(&e, &m[5]), "a 32-bit library is recognised by its container path");
}

static void
test_version(void)
{
	static const char *const good[] = { "580.95.05\n", "580.95.05", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  "
		"Tue Sep 23 10:11:16 UTC 2025\nGCC version:  gcc version 13.3.0\n", "NVRM version: NVIDIA UNIX Open Kernel Module for "
		"x86_64  580.95.05  Release Build  (dvs-builder@U22-I3-AE18-23-3)\n" };
	static const char *const bad[] = { "", "\n", "580", "580.", ".5", "580.95.05.1", "580.95.05x", "x580.95.05", "a b c\n580.95.05",
		"5800000000000000000000000000.95.05", "580..05" };
	char out[32];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(nvidia_version_parse(good[i], out) && strcmp(out, "580.95.05") == 0,
		    "the driver's version is read: text %zu", i);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!nvidia_version_parse(bad[i], out), "this is no version: \"%s\"", bad[i]);
	ok(nvidia_version_parse("390.157", out) && strcmp(out, "390.157") == 0,
	    "a version of two numbers is read");
}

int
main(void)
{
	test_vendors();
	test_others();
	test_kinds();
	test_32();
	test_version();
	return done_testing();
}
