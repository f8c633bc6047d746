/*
 * gpuhelperctl cdi generate: makes a CDI spec of this host's GPUs, their nodes and the driver's files.  See generate.h.
 * generate_nvidia.c adds NVIDIA's files; gen_rocm() here adds AMD's.
 */
#include "generate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../gpu/gpufind.h"
#include "../../host/file.h"
#include "../../host/gpu/udev.h"
#include "../../host/rootfile.h"
#include "../../read/cdi/cdispec.h"
#include "cdi_validate.h"

enum seen { SEEN_RIGHT, SEEN_WRONG, SEEN_ABSENT };

/* Reports the first problem of each node only, since several devices may share the node. */
static void __attribute__((format(printf, 3, 4)))
tell_once(struct generating *g, const char *path, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (strlist_has(&g->told, path))
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	complain(WHY_NONE, "%s %s", path, line);
	/* if this fails, the problem is only reported again */
	(void)strlist_add(&g->told, path, SIZE_MAX);
}

static enum seen
check_node(struct generating *g, const struct gpu_node *n, struct stat *st)
{
	if (fstatat(g->host.root, n->path + 1, st, AT_SYMLINK_NOFOLLOW) == -1) {
		if (errno == ENOENT && !n->optional)
			tell_once(g, n->path, "does not exist yet");
		else if (errno != ENOENT)
			tell_once(g, n->path, "can't be checked: %s", strerror(errno));
		return SEEN_ABSENT;
	}
	if (S_ISCHR(st->st_mode) && major(st->st_rdev) == n->major && minor(st->st_rdev) == n->minor)
		return SEEN_RIGHT;
	tell_once(g, n->path, "is not the character device %u:%u: remove it, and the driver creates the right node", n->major,
	    n->minor);
	return SEEN_WRONG;
}

/*
 * Adds a node.  If not everyone may use it, adds its group too, for processes that do not run as root.  A missing node
 * is added as well, unless it is optional: nvidia-modprobe and gpuhelper create NVIDIA's nodes on demand.
 */
static bool
add_node(struct generating *g, struct cdi_edits *e, const struct gpu_node *n)
{
	const unsigned others = n->read_only ? S_IROTH : S_IROTH | S_IWOTH;
	struct why why;
	struct stat st;
	enum seen seen;
	gid_t gid = 0;

	if (gpu_node_check(n, &why) == -1) {
		complain(WHY_NONE, "%s: left out", why.text);
		return true;
	}
	if ((seen = check_node(g, n, &st)) != SEEN_RIGHT && n->optional)
		return true;
	if (seen == SEEN_RIGHT && (st.st_mode & others) != others)
		gid = st.st_gid;
	return cdi_make_node(e, n->path, n->major, n->minor, n->read_only ? "r" : "rw", gid) && cdi_make_gid(e, gid);
}

static bool
add_nodes(struct generating *g, struct cdi_edits *e, const struct gpu_node *n, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!add_node(g, e, &n[i]))
			return false;
	return true;
}

/* Adds the DRM card nodes of the GPU.  Computing does not need them, but amd-ctk's specs have them. */
static bool
add_cards(struct generating *g, struct cdi_edits *e, const struct gpu *gpu, const struct drm_nodes *drm)
{
	struct gpu_node node;
	size_t i;

	for (i = 0; i < drm->n; i++) {
		if (drm->v[i].kind != DRM_CARD || gpu->pci[0] == '\0' || gpu->partition != 0 || strcmp(drm->v[i].pci, gpu->pci) != 0)
			continue;
		node = (struct gpu_node){ .major = drm->v[i].major, .minor = drm->v[i].minor, .optional = true };
		memcpy(node.path, drm->v[i].path, sizeof(node.path));
		if (!add_node(g, e, &node))
			return false;
	}
	return true;
}

static bool
copy_nodes(const struct cdi_edits *from, struct cdi_edits *to)
{
	size_t i;

	for (i = 0; i < from->nodes; i++)
		if (!cdi_make_node(to, from->node[i].path, (uint32_t)from->node[i].major.v, (uint32_t)from->node[i].minor.v,
		    from->node[i].permissions, from->node[i].gid.v))
			return false;
	for (i = 0; i < from->gids; i++)
		if (!cdi_make_gid(to, from->gid[i]))
			return false;
	return true;
}

/* Adds a device with the nodes of an earlier one. */
static int
add_alias(struct generating *g, const char *name, size_t of, struct why *why)
{
	struct cdi_device *d = cdi_make_device(&g->spec, name);

	return d != NULL && copy_nodes(&g->spec.device[of].edits, &d->edits) ? 0 : refuse_nomem(why);
}

static bool
is_usable(const struct generating *g, const struct gpu *gpu)
{
	if (gpu->vendor == g->vendor && gpu->unusable[0] != '\0')
		complain(WHY_NONE, "%s: %s: left out", gpu->pci[0] != '\0' ? gpu->pci : gpu_vendor_name(gpu->vendor),
		    gpu->unusable);
	return gpu->vendor == g->vendor && gpu->unusable[0] == '\0';
}

/*
 * True if the GPU gets a name by rank.  A GPU with MIG on has only its UUID as a name: nvidia-ctk's specs have no "0"
 * for it either.  The same holds for a GPU instance that has compute instances: "0:1" would mean something else.
 */
static bool
has_rank(const struct gpu *gpu)
{
	return !gpu->has_instances && (gpu->part[0] == '\0' || strchr(gpu->part, ':') != NULL);
}

/* Makes "0", or "0:1:0" for a MIG instance. */
static void
name_by_rank(const struct gpu *gpu, char out[48])
{
	snprintf(out, 48, "%u%s%s", gpu->rank, gpu->part[0] != '\0' ? ":" : "", gpu->part);
}

/*
 * Makes a name that does not depend on other GPUs: the UUID, or for Intel, which has no UUIDs, the PCI address.  False
 * if the GPU has no unique one; partitions of an AMD GPU share a UUID.
 */
static bool
name_for_good(const struct generating *g, const struct gpu *gpu, char out[80])
{
	const char *name = g->vendor == GPU_INTEL ? gpu->pci : gpu->uuid;
	const struct gpu *o;

	for (o = g->inv->gpu; o < g->inv->gpu + g->inv->gpus; o++)
		if (o != gpu && o->vendor == gpu->vendor && strcmp(o->part, gpu->part) == 0 &&
		    strcmp(g->vendor == GPU_INTEL ? o->pci : o->uuid, name) == 0)
			return false;
	snprintf(out, 80, "%s%s%s", name, gpu->part[0] != '\0' ? ":" : "", gpu->part);
	return name[0] != '\0' && cdi_device_name_ok(out);
}

static int
add_device(struct generating *g, const char *name, const struct gpu *gpu, const struct drm_nodes *drm, struct why *why)
{
	struct cdi_device *d = cdi_make_device(&g->spec, name);

	if (d == NULL || (g->vendor == GPU_AMD && !add_cards(g, &d->edits, gpu, drm)) ||
	    !add_nodes(g, &d->edits, gpu->node, gpu->nodes))
		return refuse_nomem(why);
	return 0;
}

/* Adds the device "all" with the nodes of every device that has a rank. */
static int
add_all(struct generating *g, size_t ranks, struct why *why)
{
	struct cdi_device *d = cdi_make_device(&g->spec, "all");
	size_t i;

	for (i = 0; d != NULL && i < ranks; i++)
		if (!copy_nodes(&g->spec.device[i].edits, &d->edits))
			d = NULL;
	return d != NULL ? 0 : refuse_nomem(why);
}

/* Adds each device by rank, and then by its stable name. */
static int
add_devices(struct generating *g, const struct drm_nodes *drm, struct why *why)
{
	const struct gpu *gpu, *end = g->inv->gpu + g->inv->gpus;
	size_t ranks, given = 0;
	char name[80], rank[48];
	int ret = 0;

	for (gpu = g->inv->gpu; ret == 0 && gpu < end; gpu++)
		if (is_usable(g, gpu) && has_rank(gpu)) {
			name_by_rank(gpu, rank);
			ret = add_device(g, rank, gpu, drm, why);
		}
	if (ret == 0 && (ranks = g->spec.devices) == 0)
		return refuse(why, WHY_ABSENT, "no %s GPU for a spec: %s", gpu_vendor_name(g->vendor),
		    g->inv->absent[g->vendor][0] != '\0' ? g->inv->absent[g->vendor] : "MIG is on, and there are no instances");
	for (gpu = g->inv->gpu; ret == 0 && gpu < end; gpu++) {
		if (gpu->vendor != g->vendor || gpu->unusable[0] != '\0')
			continue;
		if (gpu->uuid[0] == '\0' && gpu->part[0] == '\0' && g->vendor == GPU_NVIDIA)
			complain(WHY_NONE, "%s: its UUID is unknown until it is first used, so it has only a rank", gpu->pci);
		if (name_for_good(g, gpu, name))
			ret = has_rank(gpu) ? add_alias(g, name, given, why) : add_device(g, name, gpu, drm, why);
		given += has_rank(gpu);
	}
	return ret == 0 ? add_all(g, ranks, why) : -1;
}

/* Adds the libraries of /opt/rocm by SONAME, but not their data files. */
int
gen_rocm(struct generating *g, struct why *why)
{
	static const char *const dirs[] = { "/opt/rocm/lib", "/opt/rocm/lib64" };
	autolibraries struct host_libraries libs = { 0 };
	size_t i, k;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		autostrlist struct strlist names = { 0 };

		if (rootfile_list(g->host.root, dirs[i], &names, why) == -1)
			return -1;
		for (k = 0; k < names.n; k++) {
			autobuf struct buf path = { 0 };

			if (!text_starts(names.v[k], "lib") || strstr(names.v[k], ".so") == NULL)
				continue;
			buf_printf(&path, "%s/%s", dirs[i], names.v[k]);
			if (path.failed)
				return refuse_nomem(why);
			if (gen_library(g, &libs, path.p, "", why) == -1)
				return -1;
		}
	}
	if (libs.n == 0)
		return refuse(why, WHY_ABSENT, "no library in /opt/rocm/lib: install ROCm, or omit --rocm-libs");
	return gen_mount_libraries(g, &libs, false, why);
}

/* Validates the spec before it is written, since names from the host's files are in it. */
static int
validate_spec(const char *text, struct why *why)
{
	autocdifaults struct cdi_faults f = { 0 };
	autocdi struct cdi_spec s = { 0 };
	size_t i;

	if (cdi_parse(&s, CDI_JSON, text, strlen(text), &f) && f.unsafe == 0)
		return 0;
	if (f.starved)
		return refuse_nomem(why);
	for (i = 0; i < f.n; i++)
		cdi_say_fault(stderr, "the spec", &f.v[i]);
	return refuse(why, WHY_DATA, "the files on this host give no valid and safe spec");
}

static int
generate(const struct options *o, const struct gpu_source *host, const struct inventory *inv, enum gpu_vendor vendor,
    const struct drm_nodes *drm, json_t *files, struct why *why)
{
	struct generating g = { .o = o, .files = files, .host = *host, .live = o->root == NULL, .inv = inv, .vendor = vendor,
		.driver = host->root };
	autofree char *text = NULL;
	char kind[32];
	int ret = -1;

	snprintf(kind, sizeof(kind), "%s.com/gpu", gpu_vendor_name(vendor));
	if (!cdi_make_kind(&g.spec, kind) || !add_nodes(&g, &g.spec.edits, inv->common[vendor], inv->commons[vendor]))
		refuse_nomem(why);
	else if (add_devices(&g, drm, why) == 0 && (vendor != GPU_NVIDIA || gen_nvidia(&g, why) == 0) &&
	    (vendor != GPU_AMD || !o->rocm_libs || gen_rocm(&g, why) == 0)) {
		if ((text = cdi_make_text(&g.spec)) == NULL)
			refuse_nomem(why);
		else if (validate_spec(text, why) == 0)
			ret = gen_output(&g, text, why);
	}
	if (g.driver != host->root)
		close(g.driver);
	cdi_free(&g.spec);
	strlist_free(&g.told);
	return ret;
}

static json_t *
failure_json(enum gpu_vendor vendor, const struct why *why)
{
	json_t *j = error_json(why);

	put_text(j, "vendor", gpu_vendor_name(vendor));
	return j;
}

/* Makes a spec for each vendor that has GPUs here.  Returns the exit status of the first failure. */
static int
generate_all(const struct options *o, const struct gpu_source *host, const struct inventory *inv, unsigned vendors)
{
	autonodes struct drm_nodes drm = { 0 };
	const bool prints = o->output == NULL || strcmp(o->output, "-") == 0;
	json_t *files = NULL;
	struct why why;
	unsigned v, here = 0;
	int status = 0;

	for (v = 0; v < GPU_VENDORS; v++)
		if ((vendors & 1U << v) != 0 && inv->absent[v][0] == '\0')
			here |= 1U << v;
	if (here == 0) {
		for (v = 0; v < GPU_VENDORS; v++)
			if ((vendors & 1U << v) != 0)
				complain(WHY_NONE, "no %s GPU: %s", gpu_vendor_name((enum gpu_vendor)v), inv->absent[v]);
		refuse(&why, WHY_ABSENT, "no GPU to make a spec for");
		return give_up(o, &why);
	}
	if ((here & (here - 1)) != 0 && !gen_many(o))
		return misuse(o, "this host has GPUs of several vendors, but a spec is for one: give --vendor, or --output "
		    "DIRECTORY/");
	if ((here & 1U << GPU_AMD) != 0 && gpus_drm_nodes(host, &drm, &why) == -1)
		return give_up(o, &why);
	files = o->json && !prints ? json_array() : NULL;
	for (v = 0; v < GPU_VENDORS; v++)
		if ((here & 1U << v) != 0 && generate(o, host, inv, (enum gpu_vendor)v, &drm, files, &why) == -1) {
			if (files != NULL) {
				complain(why.code, "%s", why.text);
				json_array_append_new(files, failure_json((enum gpu_vendor)v, &why));
			} else
				give_up(o, &why);
			status = status != 0 ? status : (int)why.code;
		}
	if (files != NULL)
		put_out(json_pack("{s:b, s:o}", "ok", status == 0, "files", files));
	return status;
}

int
ctl_cdi_generate(const struct options *o)
{
	autoclose int root = open(o->root != NULL ? o->root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct gpu_source host = { .root = root, .drm = o->root == NULL ? &udev_drm : NULL };
	unsigned vendors = GPUS_ALL;
	struct inventory inv = { 0 };
	enum gpu_vendor vendor;
	struct why why;
	int status;

	if (o->vendor != NULL) {
		if (!gpu_vendor_parse(o->vendor, &vendor))
			return misuse(o, "--vendor must be nvidia, amd or intel, not \"%s\"", o->vendor);
		vendors = 1U << vendor;
	}
	if (root == -1) {
		refuse(&why, WHY_IO, "%s: %s", o->root != NULL ? o->root : "/", strerror(errno));
		return give_up(o, &why);
	}
	status = gpus_find(&host, vendors, &inv, &why) == 0 ? generate_all(o, &host, &inv, vendors) : give_up(o, &why);
	inventory_free(&inv);
	return status;
}
