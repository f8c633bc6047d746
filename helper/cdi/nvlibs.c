/*
 * See nvlibs.h. The lists are those of libnvidia-container (src/nvc_info.c, and nvc_mount.c for sockets), and what
 * nvidia-container-toolkit mounts in addition (pkg/nvcdi, internal/discover). The driver's README, «Installed
 * Components», says which program loads what.
 */
#include "nvlibs.h"

#include <stdio.h>
#include <string.h>

#include "../base/text.h"

#define COMPUTE GPU_CAP_COMPUTE
#define UTILITY GPU_CAP_UTILITY
#define VIDEO GPU_CAP_VIDEO
#define NGX GPU_CAP_NGX
#define SHOW (GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY)	/* NVIDIA's tools do not tell these two apart either */

struct nvlib {
	const char *stem;	/* before ".so" */
	unsigned capabilities;
	const char *number;	/* after ".so." in its SONAME; NULL: the driver's version */
	const char *other;	/* nvlib_other_name() */
};

static const struct nvlib libs[] = {
	{ "libcuda", COMPUTE, "1", "libcuda.so" },		/* many programs load it by the second name */
	{ "libcudadebugger", COMPUTE, "1", NULL },
	{ "libnvidia-opencl", COMPUTE, "1", NULL },
	{ "libnvidia-ptxjitcompiler", COMPUTE, "1", NULL },
	{ "libnvidia-fatbinaryloader", COMPUTE, NULL, NULL },
	{ "libnvidia-compiler", COMPUTE, NULL, NULL },
	{ "libnvidia-nvvm", COMPUTE, "4", NULL },
	{ "libnvidia-nvvm70", COMPUTE, "4", NULL },
	{ "libnvidia-pkcs11", COMPUTE, NULL, NULL },
	{ "libnvidia-pkcs11-openssl3", COMPUTE, NULL, NULL },
	{ "libnvidia-tileiras", COMPUTE, NULL, NULL },
	/* libnvidia-container lists these two under compute; OpenGL and Vulkan load them as well */
	{ "libnvidia-gpucomp", COMPUTE | SHOW, NULL, NULL },
	{ "libnvidia-allocator", COMPUTE | SHOW, "1", "gbm/nvidia-drm_gbm.so" },
	{ "libnvidia-ml", UTILITY, "1", NULL },
	{ "libnvidia-cfg", UTILITY, "1", NULL },
	{ "libnvidia-nscq", UTILITY, "2", NULL },
	{ "libnvsdm", UTILITY, "1", NULL },
	{ "libnvidia-sandboxutils", UTILITY, "1", NULL },
	{ "libvdpau_nvidia", VIDEO, "1", NULL },
	{ "libnvidia-encode", VIDEO, "1", NULL },
	{ "libnvidia-opticalflow", VIDEO, "1", "libnvidia-opticalflow.so" },
	{ "libnvcuvid", VIDEO, "1", NULL },
	{ "libnvidia-ngx", NGX, "1", NULL },
	{ "libnvidia-eglcore", SHOW, NULL, NULL },
	{ "libnvidia-glcore", SHOW, NULL, NULL },
	{ "libnvidia-tls", SHOW, NULL, NULL },
	{ "libnvidia-glsi", SHOW, NULL, NULL },
	{ "libnvidia-fbc", SHOW, "1", NULL },
	{ "libnvidia-ifr", SHOW, "1", NULL },
	{ "libnvidia-rtcore", SHOW, NULL, NULL },
	{ "libnvoptix", SHOW, "1", NULL },
	{ "libGLX_nvidia", SHOW, "0", "libGLX_indirect.so.0" },
	{ "libEGL_nvidia", SHOW, "0", NULL },
	{ "libGLESv2_nvidia", SHOW, "2", NULL },
	{ "libGLESv1_CM_nvidia", SHOW, "1", NULL },
	{ "libnvidia-glvkspirv", SHOW, NULL, NULL },
	{ "libnvidia-cbl", SHOW, NULL, NULL },
	{ "libnvidia-api", SHOW, "1", NULL },
	{ "libnvidia-present", SHOW, NULL, NULL },
	{ "libnvidia-vksc-core", SHOW, "1", NULL },
	{ "libnvidia-vulkan-producer", SHOW, NULL, "libnvidia-vulkan-producer.so" },
	{ "libnvidia-egl-gbm", SHOW, "1", NULL },
	{ "libnvidia-egl-wayland", SHOW, "1", NULL },
	{ "libnvidia-egl-wayland2", SHOW, "1", NULL },
	{ "libnvidia-egl-xcb", SHOW, "1", NULL },
	{ "libnvidia-egl-xlib", SHOW, "1", NULL },
	/*
	 * the vendor's own, from before libglvnd; otherwise the image's, whose names have no driver version
	 */
	{ "libGL", SHOW, "1", NULL },
	{ "libEGL", SHOW, "1", NULL },
	{ "libGLESv1_CM", SHOW, "1", NULL },
	{ "libGLESv2", SHOW, "2", NULL },
	{ "libnvidia-gtk2", GPU_CAP_DISPLAY, NULL, NULL },
	{ "libnvidia-gtk3", GPU_CAP_DISPLAY, NULL, NULL },
	{ "libnvidia-wayland-client", GPU_CAP_DISPLAY, NULL, NULL },
	{ "libnvidia-wfb", GPU_CAP_DISPLAY, NULL, NULL },
	{ "libglxserver_nvidia", GPU_CAP_DISPLAY, NULL, "libglxserver_nvidia.so" },
};

/* By the last component of the path. */
static const struct nvfile {
	const char *name;
	unsigned capabilities;
} files[] = {
	{ "nvidia-smi", UTILITY },
	{ "nvidia-debugdump", UTILITY },
	{ "nvidia-persistenced", UTILITY },
	{ "nv-fabricmanager", UTILITY },
	{ "nvidia-imex", UTILITY },
	{ "nvidia-imex-ctl", UTILITY },
	{ "nvidia-cuda-mps-control", COMPUTE },
	{ "nvidia-cuda-mps-server", COMPUTE },
	{ "nvidia-mps", COMPUTE },
	{ "nvidia.icd", COMPUTE },
	{ "nvoptix.bin", SHOW },
	{ "10_nvidia.json", SHOW },
	{ "15_nvidia_gbm.json", SHOW },
	{ "10_nvidia_wayland.json", SHOW },
	{ "09_nvidia_wayland2.json", SHOW },
	{ "20_nvidia_xcb.json", SHOW },
	{ "20_nvidia_xlib.json", SHOW },
	{ "nvidia_icd.json", SHOW },
	{ "nvidia_icd.x86_64.json", SHOW },
	{ "nvidia_icd.aarch64.json", SHOW },
	{ "nvidia_icd.i686.json", SHOW },
	{ "nvidia_layers.json", SHOW },
	{ "nvidia-drm_gbm.so", SHOW },
	{ "libGLX_indirect.so.0", SHOW },
	{ "10-nvidia.conf", GPU_CAP_DISPLAY },
	{ "nvidia-drm-outputclass.conf", GPU_CAP_DISPLAY },
	{ "nvidia_drv.so", GPU_CAP_DISPLAY },
	{ "nvidia-xconfig", GPU_CAP_DISPLAY },
};

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static const struct nvlib *
find_lib(const char *name)
{
	const char *so = strstr(name, ".so");
	size_t i;

	if (so == NULL || (so[3] != '\0' && so[3] != '.'))
		return NULL;
	for (i = 0; i < sizeof(libs) / sizeof(libs[0]); i++)
		if (strlen(libs[i].stem) == (size_t)(so - name) && strncmp(libs[i].stem, name, (size_t)(so - name)) == 0)
			return &libs[i];
	return NULL;
}

unsigned
nvlib_capabilities(const char *basename)
{
	const struct nvlib *l = find_lib(basename);

	return l != NULL ? l->capabilities : 0;
}

const char *
nvlib_other_name(const char *basename)
{
	const struct nvlib *l = find_lib(basename);

	return l != NULL ? l->other : NULL;
}

bool
nvlib_soname(const char *basename, char out[64])
{
	const struct nvlib *l = find_lib(basename);
	int n;

	if (l == NULL)
		return false;
	n = l->number != NULL ? snprintf(out, 64, "%s.so.%s", l->stem, l->number) :
	    snprintf(out, 64, "%s", basename);
	return n > 0 && n < 64;
}

const char *
nvlib_beneath(const char *basename)
{
	return text_starts(basename, "libvdpau_") ? "vdpau/" : "";
}

const char *
nvfile_service(const char *path)
{
	if (strcmp(last_part(path), "socket") != 0)
		return NULL;
	return strstr(path, "/nvidia-persistenced/") != NULL ? "nvidia-persistenced" :
	    strstr(path, "/nvidia-fabricmanager/") != NULL ? "nvidia-fabricmanager" : NULL;
}

/* …/nvidia/VERSION/gsp_ga10x.bin */
static bool
is_firmware(const char *path, const char *name)
{
	const size_t len = strlen(name);

	return strstr(path, "/nvidia/") != NULL && text_starts(name, "gsp") && len > 4 && strcmp(name + len - 4, ".bin") == 0;
}

unsigned
nvfile_capabilities(const char *path)
{
	const char *name = last_part(path);
	const unsigned lib = nvlib_capabilities(name);
	size_t i;

	if (lib != 0)
		return lib;
	if (is_firmware(path, name))
		return GPU_CAP_ALL;
	/* nvc_mount.c: only programs that manage a GPU use these */
	if (nvfile_service(path) != NULL)
		return UTILITY;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strcmp(files[i].name, name) == 0)
			return files[i].capabilities;
	return 0;
}

bool
nvfile_is_mps(const char *path)
{
	const char *name = last_part(path);

	return text_starts(name, "nvidia-cuda-mps-") || strcmp(name, "nvidia-mps") == 0 ||
	    strstr(path, "/nvidia-mps/") != NULL;
}

static bool
goes_to_32(const struct cdi_mount *m)
{
	static const char *const parts[] = { "/i386-linux-gnu/", "/arm-linux-gnueabihf/", "/lib32/", NULL };
	size_t i;

	for (i = 0; m->container_path != NULL && parts[i] != NULL; i++)
		if (strstr(m->container_path, parts[i]) != NULL)
			return true;
	return false;
}

bool
nvmount_is_32(const struct cdi_edits *e, const struct cdi_mount *m)
{
	size_t i;

	if (goes_to_32(m))
		return true;
	if (m->container_path == NULL || m->host_path == NULL || !text_starts(m->container_path, "/usr/lib/"))
		return false;
	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].host_path != NULL && strcmp(e->mount[i].host_path, m->host_path) == 0 && goes_to_32(&e->mount[i]))
			return true;
	return false;
}

bool
nvlib_own_version(const char *basename)
{
	static const char *const own[] = { "libnvidia-egl-", "libnvidia-nvvm70.", "libnvidia-api.", NULL };
	size_t i;

	for (i = 0; own[i] != NULL; i++)
		if (text_starts(basename, own[i]))
			return true;
	return false;
}

/* The length of two or three numbers with dots between them; 0 if there is none. */
static size_t
version_length(const char *s)
{
	size_t len = 0, digits, parts = 0;

	for (;;) {
		if ((digits = strspn(s + len, "0123456789")) == 0)
			return 0;
		len += digits;
		parts++;
		if (s[len] != '.')
			break;
		len++;
	}
	return (parts == 2 || parts == 3) && len < 32 && (s[len] == '\0' || strchr(" \t\n", s[len]) != NULL) ? len : 0;
}

bool
nvidia_version_parse(const char *text, char out[32])
{
	size_t len;

	for (; *text != '\0' && *text != '\n'; text += *text != '\0' && *text != '\n') {
		if ((len = version_length(text)) > 0) {
			memcpy(out, text, len);
			out[len] = '\0';
			return true;
		}
		text += strcspn(text, " \t\n");
	}
	return false;
}
