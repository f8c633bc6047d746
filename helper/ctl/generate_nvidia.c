/*
 * See generate.h: adds the NVIDIA driver's files that match the loaded module.  Looks for the same files in the same
 * places as nvidia-container-toolkit (pkg/nvcdi, internal/discover), with three exceptions.  It leaves out files for X
 * servers, and the fabric manager's socket, which is for administration.  It adds MPS only with --mps: containers that
 * use the same MPS server share more than a GPU.
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
	const char *version;		/* of the loaded module */
	char other[32];			/* another version of which there are libraries, or "" */
	struct host_libraries libs;
	struct why *why;
};

/* True if the file is libX.so.VERSION of the loaded driver.  Remembers another driver's version in n->other. */
static bool
of_version(struct nvidia *n, const char *file)
{
	const char *so = strstr(file, ".so."), *version = so != NULL ? so + 4 : "";
	char found[32];

	if (strcmp(version, n->version) == 0)
		return true;
	/* every driver has these two libraries, and nothing else has them */
	if ((text_starts(file, "libcuda.so.") || text_starts(file, "libnvidia-ml.so.")) &&
	    nvidia_version_parse(version, found))
		memcpy(n->other, found, sizeof(found));
	return false;
}

/* Adds the library of a cache entry if it belongs to the driver. */
static int
take_entry(struct nvidia *n, const struct ldcache_entry *e)
{
	autofree char *real = NULL;
	autoclose int fd = -1;
	const char *file;

	if (e->hwcap || strlen(e->path) >= 1024)
		return 0;
	/* skip by name what can't belong to the driver: most of the cache */
	if (nvlib_capabilities(path_last(e->path)) == 0 && strstr(e->path, "nvidia") == NULL)
		return 0;
	if ((fd = rootfile_open(n->g->host.root, e->path, O_PATH, &real)) == -1) {
		complain(WHY_NONE, "/etc/ld.so.cache names %s: %s: run ldconfig", e->path, strerror(errno));
		return 0;
	}
	file = path_last(real);
	if (!of_version(n, file) && !nvlib_own_version(file))
		return 0;
	if (nvlib_capabilities(file) == 0)
		complain(WHY_NONE, "%s: unknown capability: gpuhelper grants it with every capability", real);
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

/* True if no library before index «at» is in the same directory, whose path has «len» bytes. */
static bool
is_first_of(const struct host_libraries *l, size_t at, size_t len)
{
	size_t i;

	for (i = 0; i < at; i++)
		if ((size_t)(path_last(l->v[i].real) - l->v[i].real) == len && strncmp(l->v[i].real, l->v[at].real, len) == 0)
			return false;
	return true;
}

/* VDPAU loads its drivers from a subdirectory that ldconfig does not index, so the cache does not name them. */
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

/* Reports what containers will lack.  -1 with *n->why if there are no libraries of the loaded driver at all. */
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
		return refuse(n->why, WHY_ABSENT, "/etc/ld.so.cache has no libraries of driver %s%s%s: install them and run "
		    "ldconfig, or load the installed module (reboot)", n->version, n->other[0] != '\0' ? ", but of " : "", n->other);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!has_library(n, wanted[i].stem))
			complain(WHY_NONE, "/etc/ld.so.cache has no %s%s: containers will lack %s", wanted[i].stem, n->version,
			    wanted[i].what);
	if (n->other[0] != '\0')
		complain(WHY_NONE, "libraries of driver %s left out: the loaded module is of %s", n->other, n->version);
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
			complain(WHY_NONE, "%s is not in /usr/bin: containers will lack it", names[i]);
	}
	return 0;
}

/* Adds the drivers' configuration files, at the paths where containers look for them. */
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

/* Adds the GSP firmware in this directory.  The driver loads it when a process opens a GPU that nobody uses yet. */
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

/*
 * Takes the first directory with firmware, in the kernel's order
 * (Documentation/driver-api/firmware/fw_search_path.rst).
 */
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

/* Adds the directory in which programs meet the MPS server.  The server creates it. */
static int
add_mps(struct nvidia *n)
{
	static const char *const options[] = { "bind", "rw", "nosuid", "nodev", "noexec", "rprivate", NULL };
	static const char path[] = "/tmp/nvidia-mps";
	autoclose int fd = rootfile_open(n->g->host.root, path, O_PATH | O_NOFOLLOW, NULL);
	struct stat st;

	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISDIR(st.st_mode) || st.st_uid != 0) {
		complain(WHY_NONE, "%s is not a directory of root: start nvidia-cuda-mps-control -d as root first", path);
		return 0;
	}
	return cdi_make_mount(&n->g->spec.edits, path, path, options) ? 0 : refuse_nomem(n->why);
}

/*
 * Adds the socket through which nvidia-smi sets persistence.  It belongs to the daemon's own user, who is trusted with
 * the GPUs like root.
 */
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

	/* else a vendor's runtime below us would add GPUs of its own choice */
	if (!cdi_make_env(&g->spec.edits, "NVIDIA_VISIBLE_DEVICES=void"))
		return refuse_nomem(why);
	if (n.version[0] == '\0')
		return refuse(why, WHY_ABSENT, "the driver's version is neither in /sys/module/nvidia/version nor in "
		    "/proc/driver/nvidia/version: run modprobe nvidia");
	if (find_cached(&n) == 0 && find_vdpau(&n) == 0 && tell_missing(&n) == 0)
		ret = gen_mount_libraries(g, &n.libs, true, why);
	gen_libraries_free(&n.libs);
	if (ret == -1 || add_programs(&n) == -1 || add_settings(&n) == -1 || add_firmware(&n) == -1 || add_socket(&n) == -1)
		return -1;
	return g->o->mps ? add_mps(&n) : 0;
}
