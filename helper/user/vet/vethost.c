/* See vethost.h. Runs as the host's root. Looks without opening a device, a file or a folder for use. */
#include "vethost.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../gpu/gpufacts.h"
#include "../../host/driver/cdisource.h"
#include "../../host/driver/driverfiles.h"
#include "../../host/file.h"
#include "../../host/gpu/extranodefind.h"
#include "../../host/trust.h"
#include "../command/memfile.h"

static char *
read_line(const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len;

	return fd != -1 ? memfile_read(fd, 4096, &len) : NULL;
}

/*
 * Finds the vendor of a GPU or another accelerator, as a mask; 0: unknown. False for any other device. NVIDIA's driver
 * lists its GPUs. Of the others, PCI's class and vendor say it (PCI Code and ID Assignment Specification, base classes
 * 03h and 12h).
 */
static bool
is_accelerator(const char *pci, unsigned *vendors)
{
	static const char *const numbers[GPU_VENDORS] = { [GPU_NVIDIA] = "0x10de", [GPU_AMD] = "0x1002",
		[GPU_INTEL] = "0x8086" };
	autofree char *class = NULL, *vendor = NULL;
	char file[64];
	unsigned i;

	*vendors = 1U << GPU_NVIDIA;
	snprintf(file, sizeof(file), "/proc/driver/nvidia/gpus/%s", pci);
	if (access(file, F_OK) == 0)
		return true;
	*vendors = 0;
	snprintf(file, sizeof(file), "/sys/bus/pci/devices/%s/class", pci);
	if ((class = read_line(file)) == NULL || !(text_starts(class, "0x03") || text_starts(class, "0x12")))
		return false;
	snprintf(file, sizeof(file), "/sys/bus/pci/devices/%s/vendor", pci);
	vendor = read_line(file);
	for (i = 0; vendor != NULL && i < GPU_VENDORS; i++)
		if (text_starts(vendor, numbers[i]))
			*vendors = 1U << i;
	return true;
}

/* True for a partition of an AMD GPU, which has a device of its own (kernel: amdgpu_xcp_drv.c). */
static bool
is_partition(uint32_t major, uint32_t minor)
{
	char link[64], target[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device", major, minor);
	if ((len = readlink(link, target, sizeof(target) - 1)) <= 0)
		return false;
	target[len] = '\0';
	return text_starts(path_last(target), "amdgpu_xcp");
}

/* Notes the GPU of /proc/driver/nvidia/gpus/NAME. */
static void
note_nvidia(struct vethost *s, const char *name)
{
	autofree char *text = NULL;
	struct gpu g = { .pci = "" };
	struct why ignored;
	uint32_t minor;
	char file[320];

	snprintf(file, sizeof(file), "/proc/driver/nvidia/gpus/%s/information", name);
	if ((text = read_line(file)) == NULL || nvidia_information_parse(name, text, &g, &minor, &ignored) == -1 ||
	    minor > NVIDIA_MINOR_MAX)
		return;
	memcpy(s->nvidia[minor].pci, g.pci, sizeof(g.pci));
	memcpy(s->nvidia[minor].uuid, g.uuid, sizeof(g.uuid));
}

/* NVIDIA's GPU with this minor number. The driver lists its GPUs by their addresses, so all are read, once. */
static const struct vethost_gpu *
find_nvidia(struct vethost *s, uint32_t minor)
{
	DIR *d;
	struct dirent *e;

	if (s->nvidia == NULL && (s->nvidia = calloc(NVIDIA_MINOR_MAX + 1, sizeof(*s->nvidia))) != NULL) {
		d = file_list(open("/proc/driver/nvidia/gpus", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		while (d != NULL && (e = readdir(d)) != NULL)
			if (e->d_name[0] != '.')
				note_nvidia(s, e->d_name);
		if (d != NULL)
			closedir(d);
	}
	return s->nvidia != NULL ? &s->nvidia[minor] : NULL;
}

/* True if only root can change the directory. s->real is then the directory without links. */
static bool
is_roots_dir(struct vethost *s, const char *dir)
{
	struct why ignored;
	struct stat st;
	bool roots;

	if (strcmp(s->dir, dir) == 0)
		return true;
	s->dir[0] = '\0';
	/* a path beneath "/" would begin with two slashes */
	if (cdi_find_source(dir, s->real, &st, &roots, &ignored) == -1 || !roots || !S_ISDIR(st.st_mode) ||
	    strcmp(s->real, "/") == 0)
		return false;
	memcpy(s->dir, dir, strlen(dir) + 1);
	return true;
}

/*
 * As cdi_find_source(), but looks once at a directory that only root can change. Links, other directories and errors
 * are left to that function.
 */
static bool
find_source(struct vethost *s, const char *path, char *real, struct stat *st, bool *roots)
{
	static struct cdi_walk w;
	const char *name = path_last(path);
	struct why ignored;
	char dir[PATH_MAX];

	if (path_check(path, &ignored) == -1)
		return false;
	snprintf(dir, sizeof(dir), "%.*s", (int)(name - path) - 1, path);
	if (dir[0] != '\0' && is_roots_dir(s, dir) &&
	    (size_t)snprintf(real, PATH_MAX, "%s/%s", s->real, name) < PATH_MAX && lstat(real, st) == 0 &&
	    !S_ISLNK(st->st_mode)) {
		w.loose = false;
		cdi_walk_visit(&w, real, st);
		*roots = !w.loose;
		return true;
	}
	return cdi_find_source(path, real, st, roots, &ignored) == 0;
}

/*
 * Looks at the node here. For an engine with a /dev of its own, looks on the host: the runtime makes nodes by their
 * numbers.
 */
static bool
stat_node(struct vethost *s, const char *path, struct stat *st)
{
	autoclose int host = -1, fd = -1;
	char real[PATH_MAX];
	bool roots;

	if (find_source(s, path, real, st, &roots))
		return strcmp(real, path) == 0;
	host = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return host != -1 && *path == '/' && (fd = file_open_beneath(host, path + 1, O_PATH)) != -1 && fstat(fd, st) == 0;
}

static bool
find_node(void *host, const char *path, struct vet_node *n)
{
	const struct vethost_gpu *g;
	struct stat st;

	if (!stat_node(host, path, &st) || !S_ISCHR(st.st_mode))
		return false;
	n->node = (struct edit_node){ .major = major(st.st_rdev), .minor = minor(st.st_rdev), .mode = st.st_mode & 0666U,
		.uid = st.st_uid, .gid = st.st_gid };
	n->what = extra_node_find(n->node.major, n->node.minor);
	if (n->what.pci[0] != '\0' && !is_accelerator(n->what.pci, &n->vendors))
		n->what.pci[0] = '\0';
	if (n->what.pci[0] == '\0' && is_partition(n->node.major, n->node.minor))
		n->vendors = 1U << GPU_AMD;
	memcpy(n->pci, n->what.pci, sizeof(n->pci));
	if (n->node.major != NVIDIA_MAJOR || n->node.minor > NVIDIA_MINOR_MAX)
		return true;
	if ((g = find_nvidia(host, n->node.minor)) == NULL)
		return false;
	if (g->pci[0] != '\0') {
		memcpy(n->pci, g->pci, sizeof(n->pci));
		memcpy(n->uuid, g->uuid, sizeof(n->uuid));
	}
	return true;
}

static bool
find_file(void *host, const char *path, struct vet_file *f)
{
	struct stat st;

	if (!find_source(host, path, f->real, &st, &f->roots))
		return false;
	f->plain = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
	f->socket = S_ISSOCK(st.st_mode);
	f->program = S_ISREG(st.st_mode) && (st.st_mode & 0111) != 0;
	f->mps = driver_is_mps_dir(f->real, &st);
	return true;
}

static void
close_parent(struct vethost *s)
{
	if (s->parent != -1)
		close(s->parent);
	free(s->parent_path);
	s->parent = -1;
	s->parent_path = NULL;
}

/* Opens the directory that the folder lies in. It stays open: the next folder is mostly in the same one. */
static bool
open_parent(struct vethost *s, const char *path)
{
	autofree char *dir = path_parent(path);
	struct why ignored;

	if (dir == NULL)
		return false;
	if (s->parent_path != NULL && strcmp(s->parent_path, dir) == 0)
		return true;
	close_parent(s);
	if (trust_pin_dir(dir, true, &s->parent, &ignored) != TRUST_FOUND)
		return false;
	s->parent_path = dir;
	dir = NULL;
	return true;
}

static bool
find_folder(void *host, const char *path)
{
	struct vethost *s = host;
	struct stat st;

	return open_parent(s, path) && fstatat(s->parent, path_last(path), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode);
}

struct vet_host
vethost_functions(struct vethost *s)
{
	return (struct vet_host){ find_node, find_file, find_folder, s };
}

void
vethost_end(struct vethost *s)
{
	close_parent(s);
	free(s->nvidia);
}
