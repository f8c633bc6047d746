/*
 * See generate.h: adds the NVIDIA driver's files that match the loaded module.  generate_libraries.c finds its
 * libraries first, and thereby the root directory in which the other files are looked for.  Looks for the same files in
 * the same places as nvidia-container-toolkit (pkg/nvcdi, internal/discover), with three exceptions.  It leaves out
 * files for X servers, and the fabric manager's socket, which is for administration.  It adds MPS only with --mps:
 * containers that use the same MPS server share more than a GPU.
 */
#include "generate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../cdi/nvlibs.h"
#include "../../host/file.h"
#include "../../host/gpu/gputext.h"
#include "../../host/rootfile.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

struct nvidia {
	struct generating *g;
	const char *version;		/* of the loaded module */
	struct why *why;
};

static int
add_programs(struct nvidia *n)
{
	static const char *const names[] = { "nvidia-smi", "nvidia-debugdump", "nvidia-persistenced",
		"nvidia-cuda-mps-control", "nvidia-cuda-mps-server", NULL };
	/* the last two are Container-Optimized OS's, by itself and in GKE */
	static const char *const dirs[] = { "/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin",
		"/var/lib/nvidia/bin", "/home/kubernetes/bin/nvidia/bin" };
	char path[COUNT(dirs)][64], to[64];
	const char *paths[COUNT(dirs) + 1];
	size_t i, k;
	int ret;

	for (i = 0; names[i] != NULL; i++) {
		if (nvfile_is_mps(names[i]) && !n->g->o->mps)
			continue;
		for (k = 0; k < COUNT(dirs); k++) {
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

	for (i = 0; i < COUNT(files); i++) {
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
	if (rootfile_list(n->g->driver, dir, &names, n->why) == -1)
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
	const char *dirs[] = { NULL, updates, "/lib/firmware/updates", release, "/lib/firmware" };
	bool found = false;
	struct utsname u;
	size_t i;

	if (uname(&u) == -1)
		return refuse(n->why, WHY_IO, "uname: %s", strerror(errno));
	snprintf(updates, sizeof(updates), "/lib/firmware/updates/%s", u.release);
	snprintf(release, sizeof(release), "/lib/firmware/%s", u.release);
	if (own != NULL) {
		own[strcspn(own, "\n")] = '\0';
		/* the kernel knows it as a path of the host */
		dirs[0] = gen_in_root(n->g, own);
	}
	for (i = 0; !found && i < COUNT(dirs); i++)
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
	autoclose int fd = gen_open(n->g, path, O_PATH | O_NOFOLLOW, &real);
	struct stat st;

	/* the daemon of a driver in a container may run on the host */
	if (fd == -1)
		fd = rootfile_open(n->g->host.root, path, O_PATH | O_NOFOLLOW, &real);
	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISSOCK(st.st_mode))
		return 0;
	return cdi_make_mount(&n->g->spec.edits, real, path, options) ? 0 : refuse_nomem(n->why);
}

int
gen_nvidia(struct generating *g, struct why *why)
{
	struct nvidia n = { .g = g, .version = g->inv->nvidia_version, .why = why };

	/* else a vendor's runtime below us would add GPUs of its own choice */
	if (!cdi_make_env(&g->spec.edits, "NVIDIA_VISIBLE_DEVICES=void"))
		return refuse_nomem(why);
	if (n.version[0] == '\0')
		return refuse(why, WHY_ABSENT, "the driver's version is neither in /sys/module/nvidia/version nor in "
		    "/proc/driver/nvidia/version: run modprobe nvidia");
	if (gen_nvidia_libraries(g, why) == -1 || add_programs(&n) == -1 || add_settings(&n) == -1 || add_firmware(&n) == -1 ||
	    add_socket(&n) == -1)
		return -1;
	return g->o->mps ? add_mps(&n) : 0;
}
