/* pure/nvlibs.c: what each file of the NVIDIA driver is for. */
#include "pure/nvlibs.h"
#include "tap.h"

#define SHOW (GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY)

/* libnvidia-container, src/nvc_info.c: each of its lists must come out with at least its own capability. */
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
				    nvfile_capabilities(path) == nvlib_capabilities(name), "%s has its capability", name);
				ok((nvlib_capabilities(name) & GPU_CAP_COMPAT32) == 0, "and %s does not say of how many bits", name);
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
		ok(nvlib_capabilities(not[i]) == 0 && nvlib_other_name(not[i]) == NULL, "no library of the driver's: \"%s\"", not[i]);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		is_int(nvfile_capabilities(files[i].path), files[i].capabilities, "\"%s\"", files[i].path);
	is_str(nvlib_other_name("libcuda.so.1"), "libcuda.so", "another name");
	is_str(nvlib_other_name("libnvidia-allocator.so.580.95.05"), "gbm/nvidia-drm_gbm.so", "another name, in a directory");
	is_str(nvlib_other_name("libnvidia-ml.so.1"), NULL, "no other name");
}

static void
test_kinds(void)
{
	unsigned all;

	ok(gpu_capability_parse("all", &all) && all == GPU_CAP_ALL, "all of them");
	ok(nvfile_is_mps("/usr/bin/nvidia-cuda-mps-server") && nvfile_is_mps("/tmp/nvidia-mps") && nvfile_is_mps("/tmp/nvidia-mps/control"),
	    "MPS");
	ok(!nvfile_is_mps("/usr/bin/nvidia-smi") && !nvfile_is_mps("/tmp/nvidia-mpsx"), "no MPS");
	ok(nvlib_dir_is_32("/usr/lib/i386-linux-gnu/libcuda.so.1") && nvlib_dir_is_32("/usr/lib32/libcuda.so.1") &&
	    nvlib_dir_is_32("/usr/lib/i386-linux-gnu/vdpau/libvdpau_nvidia.so.1"), "of 32 bits by the directory");
	ok(!nvlib_dir_is_32("/usr/lib/libcuda.so.1") && !nvlib_dir_is_32("/usr/lib64/libcuda.so.1") && !nvlib_dir_is_32("lib32"),
	    "not of 32 bits by the directory");
}

int
main(void)
{
	test_vendors();
	test_others();
	test_kinds();
	return done_testing();
}
