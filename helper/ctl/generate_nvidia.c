/*
 * See generate.h: the NVIDIA driver's files that go with the module that is
 * loaded.  What is looked for where is as in nvidia-container-toolkit
 * (pkg/nvcdi, internal/discover), but for what an X server needs, for the fabric
 * manager's socket, which is for administration, and for MPS, by which containers
 * share more than a GPU: that is there where it is asked for.
 */
#include "generate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "../host/file.h"
#include "../host/gputext.h"
#include "../host/rootfile.h"
#include "../pure/cleanup.h"
#include "../pure/ldcache.h"
#include "../pure/nvlibs.h"
#include "../pure/path.h"

struct nvidia {
	struct generating *g;
	const char *version;		/* of the module */
	char other[32];			/* a version that libraries have, and the module not; "" */
	struct host_libraries libs;
	struct why *why;
};

/* Is it a file of this driver's version, libX.so.VERSION?  Else, if it is of another one, that is remembered. */
static bool
of_version(struct nvidia *n, const char *file)
{
	const char *so = strstr(file, ".so."), *version = so != NULL ? so + 4 : "";
	char found[32];

	if (strcmp(version, n->version) == 0)
		return true;
	/* two that every driver has, and only it */
	if ((text_starts(file, "libcuda.so.") || text_starts(file, "libnvidia-ml.so.")) &&
	    nvidia_version_parse(version, found))
		memcpy(n->other, found, sizeof(found));
	return false;
}

/* An entry of the loader's cache: is what is there one of the driver's? */
static int
take_entry(struct nvidia *n, const struct ldcache_entry *e)
{
	autofree char *real = NULL;
	autoclose int fd = -1;
	const char *file;

	if (e->hwcap || strlen(e->path) >= 1024)
		return 0;
	/* most of the cache's have nothing of it in their names, and need not be looked for */
	if (nvlib_capabilities(path_last(e->path)) == 0 && strstr(e->path, "nvidia") == NULL)
		return 0;
	if ((fd = rootfile_open(n->g->host.root, e->path, O_PATH, &real)) == -1) {
		complain(WHY_NONE, "%s is in /etc/ld.so.cache: %s: run ldconfig", e->path, strerror(errno));
		return 0;
	}
	file = path_last(real);
	if (!of_version(n, file) && !nvlib_own_version(file))
		return 0;
	if (nvlib_capabilities(file) == 0)
		complain(WHY_NONE, "%s is not known to be of any capability: gpuhelper gives it with each of them", real);
	return gen_library(n->g, &n->libs, e->path, "", n->why) == -1 ? -1 : 0;
}

static int
find_cached(struct nvidia *n)
{
	autofree char *bytes = NULL;
	autoldcache struct ldcache cache = { 0 };
	size_t i, len;

	if ((bytes = file_read_at(n->g->host.root, "etc/ld.so.cache", LDCACHE_MAX, &len)) == NULL)
		return refuse(n->why, WHY_IO, "/etc/ld.so.cache: %s%s", strerror(errno), errno == ENOENT ? ": run ldconfig" : "");
	if (ldcache_parse(&cache, bytes, len, n->why) == -1)
		return refuse_within(n->why, "/etc/ld.so.cache");
	for (i = 0; i < cache.n; i++)
		if (take_entry(n, &cache.v[i]) == -1)
			return -1;
	return 0;
}

/* Does none before it lie in the directory of this library, of which the path has «len» bytes? */
static bool
is_first_of(const struct host_libraries *l, size_t at, size_t len)
{
	size_t i;

	for (i = 0; i < at; i++)
		if ((size_t)(path_last(l->v[i].real) - l->v[i].real) == len && strncmp(l->v[i].real, l->v[at].real, len) == 0)
			return false;
	return true;
}

/* VDPAU loads its drivers from a directory beside the others, which ldconfig does not look into. */
static int
find_vdpau(struct nvidia *n)
{
	const size_t known = n->libs.n;
	size_t i, len;

	for (i = 0; i < known; i++) {
		const char *real = n->libs.v[i].real;
		autobuf struct buf path = { 0 };

		len = (size_t)(path_last(real) - real);
		if (!is_first_of(&n->libs, i, len))
			continue;
		buf_add(&path, real, len);
		buf_printf(&path, "vdpau/libvdpau_nvidia.so.%s", n->version);
		if (path.failed)
			return refuse_nomem(n->why);
		if (gen_library(n->g, &n->libs, path.p, "vdpau/", n->why) == -1)
			return -1;
	}
	return 0;
}

static bool
has_library(const struct nvidia *n, const char *stem)
{
	size_t i;

	for (i = 0; i < n->libs.n; i++)
		if (n->libs.v[i].bits == 64 && text_starts(n->libs.v[i].soname, stem))
			return true;
	return false;
}

/* Says what containers will lack. */
static int
tell_missing(struct nvidia *n)
{
	static const struct { const char *stem, *what; } wanted[] = {
		{ "libcuda.so.", "CUDA" }, { "libnvidia-ptxjitcompiler.so.", "the compiler of CUDA's PTX code" },
		{ "libnvidia-ml.so.", "nvidia-smi and NVML" },
	};
	size_t i, missing = 0;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		missing += !has_library(n, wanted[i].stem);
	if (missing == sizeof(wanted) / sizeof(wanted[0]))
		return refuse(n->why, WHY_ABSENT, "no library of driver %s is in /etc/ld.so.cache%s%s: install them and run "
		    "ldconfig, or load the module that is installed (reboot)", n->version, n->other[0] != '\0' ? ", but of " : "",
		    n->other);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!has_library(n, wanted[i].stem))
			complain(WHY_NONE, "no %s%s is in /etc/ld.so.cache: containers will not have %s", wanted[i].stem, n->version,
			    wanted[i].what);
	if (n->other[0] != '\0')
		complain(WHY_NONE, "libraries of driver %s are left out: the module that is loaded is of %s", n->other, n->version);
	return 0;
}

static int
add_programs(struct nvidia *n)
{
	static const char *const names[] = { "nvidia-smi", "nvidia-debugdump", "nvidia-persistenced",
		"nvidia-cuda-mps-control", "nvidia-cuda-mps-server", NULL };
	static const char *const dirs[] = { "/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin" };
	char path[6][64], to[64];
	const char *paths[7];
	size_t i, k;
	int ret;

	for (i = 0; names[i] != NULL; i++) {
		if (nvfile_is_mps(names[i]) && !n->g->o->mps)
			continue;
		for (k = 0; k < 6; k++) {
			snprintf(path[k], sizeof(path[k]), "%s/%s", dirs[k], names[i]);
			paths[k] = path[k];
		}
		paths[k] = NULL;
		snprintf(to, sizeof(to), "/usr/bin/%s", names[i]);
		if ((ret = gen_file(n->g, paths, to, n->why)) == -1)
			return -1;
		if (ret == 1 && (i == 0 || nvfile_is_mps(names[i])))
			complain(WHY_NONE, "%s is not in /usr/bin: containers will not have it", names[i]);
	}
	return 0;
}

/* Where containers look for them, whichever place the host has them in. */
static int
add_settings(struct nvidia *n)
{
	static const struct { const char *container, *name; } files[] = {
		{ "/usr/share", "glvnd/egl_vendor.d/10_nvidia.json" },
		{ "/usr/share", "egl/egl_external_platform.d/15_nvidia_gbm.json" },
		{ "/usr/share", "egl/egl_external_platform.d/10_nvidia_wayland.json" },
		{ "/usr/share", "egl/egl_external_platform.d/09_nvidia_wayland2.json" },
		{ "/usr/share", "egl/egl_external_platform.d/20_nvidia_xcb.json" },
		{ "/usr/share", "egl/egl_external_platform.d/20_nvidia_xlib.json" },
		{ "/usr/share", "nvidia/nvoptix.bin" },
		{ "/etc", "OpenCL/vendors/nvidia.icd" },
		{ "/etc", "vulkan/icd.d/nvidia_icd.json" },
		{ "/etc", "vulkan/icd.d/nvidia_icd.x86_64.json" },
		{ "/etc", "vulkan/icd.d/nvidia_icd.aarch64.json" },
		{ "/etc", "vulkan/implicit_layer.d/nvidia_layers.json" },
	};
	char etc[96], share[96], to[96];
	const char *const paths[] = { etc, share, NULL };
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(etc, sizeof(etc), "/etc/%s", files[i].name);
		snprintf(share, sizeof(share), "/usr/share/%s", files[i].name);
		snprintf(to, sizeof(to), "%s/%s", files[i].container, files[i].name);
		if (gen_file(n->g, paths, to, n->why) == -1)
			return -1;
	}
	return 0;
}

/* The first directory that has any; a GPU that nobody uses yet gets its firmware from there when it is opened. */
static int
add_firmware_of(struct nvidia *n, const char *top, bool *found)
{
	autostrlist struct strlist names = { 0 };
	char dir[512], path[800];
	const char *const paths[] = { path, NULL };
	size_t i;

	snprintf(dir, sizeof(dir), "%s/nvidia/%s", top, n->version);
	if (rootfile_list(n->g->host.root, dir, &names, n->why) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names.v[i]);
		if (nvfile_capabilities(path) != GPU_CAP_ALL)
			continue;
		if (gen_file(n->g, paths, NULL, n->why) == -1)
			return -1;
		*found = true;
	}
	return 0;
}

/* Where the kernel looks for firmware (Documentation/driver-api/firmware/fw_search_path.rst). */
static int
add_firmware(struct nvidia *n)
{
	autofree char *own = gpus_read(n->g->host.root, "sys/module/firmware_class/parameters/path");
	char updates[160], release[160];
	const char *dirs[] = { own, updates, "/lib/firmware/updates", release, "/lib/firmware" };
	bool found = false;
	struct utsname u;
	size_t i;

	if (uname(&u) == -1)
		return refuse(n->why, WHY_IO, "uname: %s", strerror(errno));
	snprintf(updates, sizeof(updates), "/lib/firmware/updates/%s", u.release);
	snprintf(release, sizeof(release), "/lib/firmware/%s", u.release);
	if (own != NULL)
		own[strcspn(own, "\n")] = '\0';
	for (i = 0; !found && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (dirs[i] != NULL && dirs[i][0] == '/' && strlen(dirs[i]) < 256 && add_firmware_of(n, dirs[i], &found) == -1)
			return -1;
	return 0;
}

/* Where the programs of containers meet the MPS server, which makes it. */
static int
add_mps(struct nvidia *n)
{
	static const char *const options[] = { "bind", "rw", "nosuid", "nodev", "noexec", "rprivate", NULL };
	static const char path[] = "/tmp/nvidia-mps";
	autoclose int fd = rootfile_open(n->g->host.root, path, O_PATH | O_NOFOLLOW, NULL);
	struct stat st;

	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISDIR(st.st_mode) || st.st_uid != 0) {
		complain(WHY_NONE, "%s is no directory of root's: start nvidia-cuda-mps-control -d as root first", path);
		return 0;
	}
	return cdi_make_mount(&n->g->spec.edits, path, path, options) ? 0 : refuse_nomem(n->why);
}

/* Through it nvidia-smi sets persistence; not root's, but its daemon's own, which is as trusted with the GPUs. */
static int
add_socket(struct nvidia *n)
{
	static const char *const options[] = { "bind", "nosuid", "nodev", "noexec", "rprivate", NULL };
	static const char path[] = "/run/nvidia-persistenced/socket";
	autofree char *real = NULL;
	autoclose int fd = rootfile_open(n->g->host.root, path, O_PATH | O_NOFOLLOW, &real);
	struct stat st;

	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISSOCK(st.st_mode))
		return 0;
	return cdi_make_mount(&n->g->spec.edits, real, path, options) ? 0 : refuse_nomem(n->why);
}

int
gen_nvidia(struct generating *g, struct why *why)
{
	struct nvidia n = { .g = g, .version = g->inv->nvidia_version, .why = why };
	int ret = -1;

	/* or a vendor's runtime below would give its own choice too */
	if (!cdi_make_env(&g->spec.edits, "NVIDIA_VISIBLE_DEVICES=void"))
		return refuse_nomem(why);
	if (n.version[0] == '\0')
		return refuse(why, WHY_ABSENT, "neither /sys/module/nvidia/version nor /proc/driver/nvidia/version tells the "
		    "driver's version: run modprobe nvidia");
	if (find_cached(&n) == 0 && find_vdpau(&n) == 0 && tell_missing(&n) == 0)
		ret = gen_mount_libraries(g, &n.libs, true, why);
	gen_libraries_free(&n.libs);
	if (ret == -1 || add_programs(&n) == -1 || add_settings(&n) == -1 || add_firmware(&n) == -1 || add_socket(&n) == -1)
		return -1;
	return g->o->mps ? add_mps(&n) : 0;
}
