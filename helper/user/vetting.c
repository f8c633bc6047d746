/* See vetting.h. Runs as the host's root. Looks at the host without opening a device, a file or a folder for use. */
#include "vetting.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../host/cdisource.h"
#include "../host/driverfiles.h"
#include "../host/file.h"
#include "../host/furtherlook.h"
#include "../host/mountpoint.h"
#include "../host/selinux.h"
#include "../host/trust.h"
#include "../host/users.h"
#include "../pure/cleanup.h"
#include "../pure/gpufacts.h"
#include "../pure/grant.h"
#include "../pure/path.h"
#include "../pure/vet.h"
#include "answers.h"
#include "memfile.h"

/* How the table looks at the host. */

static char *
read_line(const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len;

	return fd != -1 ? memfile_read(fd, 4096, &len) : NULL;
}

static bool
nvidia_has(const char *pci)
{
	char file[64];

	snprintf(file, sizeof(file), "/proc/driver/nvidia/gpus/%s", pci);
	return access(file, F_OK) == 0;
}

/* The vendor of a PCI device, as a mask. NVIDIA's driver lists its GPUs; the others are known by PCI's numbers. */
static unsigned
vendor_of(const char *pci)
{
	static const char *const numbers[GPU_VENDORS] = { [GPU_NVIDIA] = "0x10de", [GPU_AMD] = "0x1002",
		[GPU_INTEL] = "0x8086" };
	autofree char *text = NULL;
	char file[64];
	unsigned i;

	if (nvidia_has(pci))
		return 1U << GPU_NVIDIA;
	snprintf(file, sizeof(file), "/sys/bus/pci/devices/%s/vendor", pci);
	if ((text = read_line(file)) == NULL)
		return 0;
	for (i = 0; i < GPU_VENDORS && !text_starts(text, numbers[i]); i++)
		;
	return i < GPU_VENDORS ? 1U << i : 0;
}

/*
 * True for a GPU or another accelerator: NVIDIA's driver lists it, or its class says so (PCI Code and ID Assignment
 * Specification, base classes 03h and 12h).
 */
static bool
is_accelerator(const char *pci)
{
	autofree char *class = NULL;
	char file[64];

	if (nvidia_has(pci))
		return true;
	snprintf(file, sizeof(file), "/sys/bus/pci/devices/%s/class", pci);
	if ((class = read_line(file)) == NULL)
		return false;
	return text_starts(class, "0x03") || text_starts(class, "0x12");
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

/* Finds NVIDIA's GPU with this minor number: its address and UUID. */
static void
find_nvidia(uint32_t minor, struct vet_node *n)
{
	DIR *d = file_list(open("/proc/driver/nvidia/gpus", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct why ignored;
	struct dirent *e;
	uint32_t its;

	while (d != NULL && (e = readdir(d)) != NULL) {
		autofree char *text = NULL;
		struct gpu g = { .pci = "" };
		char file[320];

		snprintf(file, sizeof(file), "/proc/driver/nvidia/gpus/%s/information", e->d_name);
		if (e->d_name[0] == '.' || (text = read_line(file)) == NULL ||
		    nvidia_information_parse(e->d_name, text, &g, &its, &ignored) == -1 || its != minor)
			continue;
		memcpy(n->pci, g.pci, sizeof(n->pci));
		memcpy(n->uuid, g.uuid, sizeof(n->uuid));
	}
	if (d != NULL)
		closedir(d);
}

/*
 * Looks at the node here. For an engine with a /dev of its own, looks on the host: the runtime makes nodes by their
 * numbers.
 */
static bool
stat_node(const char *path, struct stat *st)
{
	autoclose int host = -1, fd = -1;
	char real[PATH_MAX];
	struct why ignored;
	bool roots;

	if (cdi_find_source(path, real, st, &roots, &ignored) == 0)
		return strcmp(real, path) == 0;
	host = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return host != -1 && *path == '/' && (fd = file_open_beneath(host, path + 1, O_PATH)) != -1 && fstat(fd, st) == 0;
}

static bool
see_node(void *host, const char *path, struct vet_node *n)
{
	struct stat st;

	(void)host;
	if (!stat_node(path, &st) || !S_ISCHR(st.st_mode))
		return false;
	n->node = (struct edit_node){ .major = major(st.st_rdev), .minor = minor(st.st_rdev), .mode = st.st_mode & 0666U,
		.uid = st.st_uid, .gid = st.st_gid };
	n->what = further_look(n->node.major, n->node.minor);
	if (n->what.pci[0] != '\0' && !is_accelerator(n->what.pci))
		n->what.pci[0] = '\0';
	if (n->what.pci[0] != '\0')
		n->vendors = vendor_of(n->what.pci);
	else if (is_partition(n->node.major, n->node.minor))
		n->vendors = 1U << GPU_AMD;
	memcpy(n->pci, n->what.pci, sizeof(n->pci));
	if (n->node.major == NVIDIA_MAJOR && n->node.minor <= NVIDIA_MINOR_MAX)
		find_nvidia(n->node.minor, n);
	return true;
}

static bool
see_file(void *host, const char *path, struct vet_file *f)
{
	struct why ignored;
	struct stat st;

	(void)host;
	if (cdi_find_source(path, f->real, &st, &f->roots, &ignored) == -1)
		return false;
	f->plain = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
	f->socket = S_ISSOCK(st.st_mode);
	f->program = S_ISREG(st.st_mode) && (st.st_mode & 0111) != 0;
	f->mps = driver_is_mps_dir(f->real, &st);
	return true;
}

static bool
see_folder(void *host, const char *path)
{
	autofree char *dir = strndup(path, (size_t)(path_last(path) - path));
	autoclose int parent = -1;
	struct why ignored;
	struct stat st;

	(void)host;
	if (dir == NULL)
		return false;
	if (strlen(dir) > 1)
		dir[strlen(dir) - 1] = '\0';
	return trust_find_place(dir, true, &parent, &ignored) == TRUST_FOUND &&
	    fstatat(parent, path_last(path), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* What root's files give. */

/* The policy that grants, which must list root. */
static const struct policy *
find_policy(const struct policy_set *all, const char *name, struct why *why)
{
	autofree char *user = user_name(0);
	const struct asker root = { .uid = 0, .user = user, .member = true, .enforced = true };
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->v[i].broken == NULL && strcmp(all->v[i].policy.name, name) == 0)
			return policy_lists(&all->v[i].policy, &root, why) ? &all->v[i].policy : NULL;
	refuse(why, WHY_AGAIN, "policy %.200s granted the container and is gone or broken now: try again", name);
	return NULL;
}

/* The devices that names of usable specs mean, in an array that the caller frees. NULL if memory is short. */
static struct vet_source *
sources_of(const struct cdi_registry *r, size_t *n)
{
	struct vet_source *v = calloc(r->entries + 1, sizeof(*v));
	const struct cdi_entry *e;
	size_t i;

	*n = 0;
	for (i = 0; v != NULL && i < r->entries; i++) {
		e = &r->entry[i];
		if (!e->conflict)
			v[(*n)++] = (struct vet_source){ { &e->file->spec.edits, &e->device->edits }, e->file->spec.kind,
				e->file->faults.unsafe_hooks == 0, false };
	}
	return v;
}

/* Specs matter for grants of GPUs alone. */
static bool
needs_specs(const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver)
			return true;
	return e->nodes > 0 || e->hooks > 0;
}

int
vetting_check(struct reply *reply, const struct request *r, const struct settings *s,
    const struct devmajors *majors, struct why *why)
{
	struct vet v = { .edits = &reply->edits, .request = r, .settings = s, .majors = majors,
		.look = { see_node, see_file, see_folder, NULL } };
	autocdiregistry struct cdi_registry specs = { .files = 0 };
	autopolicyset struct policy_set policies = { .n = 0 };
	autofree struct vet_source *source = NULL;
	enum selinux_state selinux;

	if (answers_policies(&policies, why) == -1 || (v.policy = find_policy(&policies, reply->policy, why)) == NULL)
		return -1;
	if (needs_specs(v.edits) && answers_specs(&specs, why) == -1)
		return -1;
	if ((v.source = source = sources_of(&specs, &v.sources)) == NULL)
		return refuse_nomem(why);
	if (selinux_state(&selinux, why) == -1)
		return -1;
	v.enforcing = selinux == SELINUX_ENFORCING;
	edits_sort_mounts(&reply->edits);
	if (vet_edits(&v, why) == -1 || mountpoints_check(&reply->edits, why) == -1)
		return -1;
	reply->edits.env_secret = reply->edits.env_secret || vet_sets_secret(&reply->edits, v.policy);
	return 0;
}
