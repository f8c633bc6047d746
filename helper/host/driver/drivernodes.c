/*
 * See drivernodes.h. Assumes specs that only root can have written. A spec may have a mistake, or may have been right
 * only before the host's last boot: it must never grant another GPU or another device of the host. Opens nothing:
 * lstat(2) and readlink(2).
 */
#include "drivernodes.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../../base/path.h"
#include "../../cdi/cdigpu.h"
#include "../../gpu/extranode.h"
#include "../../gpu/extrapath.h"
#include "../../gpu/extraword.h"
#include "../../gpu/unsupported.h"
#include "../gpu/extranodefind.h"
#include "cdisource.h"

static bool
is_added(const struct extra_nodes *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i].path, path) == 0)
			return true;
	return false;
}

/*
 * True if the permissions include writing. The container always gets reading and writing, as with every node
 * that is granted.
 */
static bool
is_plain_access(const struct cdi_devnode *n)
{
	return n->permissions == NULL || n->permissions[0] == '\0' || strpbrk(n->permissions, "w") != NULL;
}

/* Returns 0, 1 if the node is to be left out, or -1 with *why. */
static int
check_driver(const struct driver_question *q, const struct granted_gpu *w, const struct cdi_file *f,
    const struct gpu_node *n, struct extra_nodes *out, bool *own, struct why *why)
{
	const struct devmajors *m = &q->inventory->majors;
	const struct extra_node node = extra_node_find(n->major, n->minor);
	const char *driver = extra_driver(m, n->major);
	char part[16];
	unsigned word;

	gpu_part(q->inventory, w->gpu, part);
	*own = extra_is_own(w->gpu, part, &node);
	switch (extra_classify(m, w->gpu, part, &node, &word)) {
	case EXTRA_OF_GPU:
		return 0;
	case EXTRA_DISPLAYS:
		return (w->rule->capabilities & (GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY)) != 0 ? 0 : 1;
	case EXTRA_BY_WORD:
		if ((w->rule->nodes & word) == 0)
			return refuse(why, WHY_CONFIG, "CDI spec %s: node %s (%u:%u) is of driver %s: a policy's gpus entry gives it "
			    "where it says nodes = [ \"%s\" ]", f->path, n->path, n->major, n->minor, driver, extra_word_name(word));
		if (word == EXTRA_IMEX && w->rule->one_channel && n->minor != w->rule->channel)
			return refuse(why, WHY_CONFIG, "CDI spec %s: node %s (%u:%u) is IMEX channel %u, and the policy gives only channel "
			    "%u: remove it from the GPU's device", f->path, n->path, n->major, n->minor, n->minor, w->rule->channel);
		out->words |= word;
		return 0;
	case EXTRA_OF_GPUS:
		return refuse(why, WHY_CONFIG, "CDI spec %s: node %s (%u:%u) is of another GPU, or changes GPUs, and not of GPU "
		    "%s: renew the spec", f->path, n->path, n->major, n->minor, w->gpu->pci);
	case EXTRA_UNKNOWN:
		break;
	}
	if (driver[0] == '\0')
		return refuse(why, WHY_CONFIG, "CDI spec %s: node %s (%u:%u) is of no driver that is loaded (/proc/devices has no "
		    "major %u): load its driver, make the node again, or remove it from the spec", f->path, n->path, n->major,
		    n->minor, n->major);
	return refuse(why, WHY_CONFIG, "CDI spec %s: node %s (%u:%u) is of driver %s and none of GPU %s's: no policy can "
	    "grant it, remove it from the spec", f->path, n->path, n->major, n->minor, driver, w->gpu->pci);
}

/* Refuses the host's memory or console with that reason, whichever driver the number belongs to. */
static int
check_number(const struct driver_question *q, const struct granted_gpu *w, const struct cdi_file *f,
    const struct gpu_node *n, struct extra_nodes *out, bool *own, struct why *why)
{
	const char *what = cdi_host_device('c', n->major, n->minor);
	const char *unsupported = node_unsupported(n->path);

	if (what != NULL)
		return refuse(why, WHY_CONFIG, "CDI spec %s: node %s (%u:%u) is %s", f->path, n->path, n->major, n->minor, what);
	if (unsupported != NULL)
		return refuse(why, WHY_CONFIG, "CDI spec %s: node %s is of a GPU of %s, which gpuhelper can't give", f->path, n->path,
		    unsupported);
	return check_driver(q, w, f, n, out, own, why);
}

/*
 * True if the spec takes the container's node from the host's node of the same path, or from another node of that
 * device: a driver's own root directory (/run/nvidia/driver/dev) has the host's nodes once more.
 */
static bool
is_taken_from_own(const struct cdi_devnode *n)
{
	const char *source = cdi_node_source(n);
	struct stat own, other;
	char real[PATH_MAX];
	struct why ignored;
	bool roots;

	return strcmp(source, n->path) == 0 || (cdi_find_source(n->path, real, &own, &roots, &ignored) == 0 &&
	    cdi_find_source(source, real, &other, &roots, &ignored) == 0 && S_ISCHR(other.st_mode) &&
	    other.st_rdev == own.st_rdev);
}

/* Takes the node's numbers from the host. root/node/device.c compares the node that it pins with these numbers. */
static int
number_node(const struct cdi_file *f, const struct cdi_devnode *n, struct gpu_node *out, struct why *why)
{
	const char *path = n->path;
	char real[PATH_MAX];
	struct stat st;
	struct why inner;
	bool roots;

	if (!is_taken_from_own(n))
		return refuse(why, WHY_CONFIG, "CDI spec %s: node %s is to be %s in the container, and a runtime uses one name for "
		    "both: remove hostPath from the spec", f->path, cdi_node_source(n), path);
	if (!is_plain_access(n) || strlen(path) >= sizeof(out->path))
		return refuse(why, WHY_CONFIG, "CDI spec %s: node %s: permissions other than rw, or a path longer than %zu bytes",
		    f->path, path, sizeof(out->path) - 1);
	if (cdi_find_source(path, real, &st, &roots, &inner) == -1)
		return refuse(why, WHY_CONFIG, "CDI spec %s: node %s", f->path, inner.text);
	if (!S_ISCHR(st.st_mode))
		return refuse(why, WHY_CONFIG, "CDI spec %s: node %s is not a character device", f->path, path);
	if (n->major.set && n->major.v != 0 &&
	    (n->major.v != (int64_t)major(st.st_rdev) || n->minor.v != (int64_t)minor(st.st_rdev)))
		return refuse(why, WHY_CONFIG, "CDI spec %s: node %s is %u:%u here, and the spec says %lld:%lld: renew the spec",
		    f->path, path, major(st.st_rdev), minor(st.st_rdev), (long long)n->major.v, (long long)n->minor.v);
	*out = (struct gpu_node){ .major = major(st.st_rdev), .minor = minor(st.st_rdev) };
	snprintf(out->path, sizeof(out->path), "%s", path);
	return 0;
}

static int
add_node(const struct gpu_node *n, const struct gpu *own, struct extra_nodes *out, struct why *why)
{
	if (out->n == DRIVER_NODES_MAX)
		return refuse(why, WHY_CONFIG, "%s: more than %d nodes other than the GPU's own", n->path, DRIVER_NODES_MAX);
	out->own[out->n] = own;
	out->v[out->n++] = *n;
	return 0;
}

static int
add_extra_nodes(const struct driver_question *q, const struct granted_gpu *w, const struct cdi_file *f,
    const struct cdi_edits *e, struct extra_nodes *out, struct why *why)
{
	struct gpu_node node;
	const char *path;
	size_t i;
	bool own = false;
	int ret;

	for (i = 0; i < e->nodes; i++) {
		path = cdi_node_source(&e->node[i]);
		if (gpu_has_node(q->inventory, w->gpu, path) || is_added(out, path) ||
		    (e->node[i].permissions != NULL && strcmp(e->node[i].permissions, "none") == 0))
			continue;
		if (gpu_of_node(q->inventory, path) != NULL)
			return refuse(why, WHY_CONFIG, "CDI spec %s: it has node %s of GPU %s for every container: move it to that "
			    "GPU's device", f->path, path, gpu_of_node(q->inventory, path)->pci);
		if (number_node(f, &e->node[i], &node, why) == -1 || (ret = check_number(q, w, f, &node, out, &own, why)) == -1)
			return -1;
		if (ret == 0 && add_node(&node, own ? w->gpu : NULL, out, why) == -1)
			return -1;
	}
	return 0;
}

static int
add_entry_nodes(const struct driver_question *q, const struct granted_gpu *w, const struct cdi_entry *e,
    struct extra_nodes *out, struct why *why)
{
	return add_extra_nodes(q, w, e->file, &e->file->spec.edits, out, why) == -1 ||
	    add_extra_nodes(q, w, e->file, &e->device->edits, out, why) == -1 ? -1 : 0;
}

/*
 * The policy's channel, or the one that all users of a host have unless an administrator makes more. Its node is what
 * NVIDIA's tool would write into a spec.
 */
static int
add_channel(const struct driver_question *q, const struct granted_gpu *w, struct extra_nodes *out, struct why *why)
{
	struct gpu_node n = { .minor = w->rule->one_channel ? w->rule->channel : 0 };
	struct stat st;

	snprintf(n.path, sizeof(n.path), IMEX_CHANNEL "%u", n.minor);
	if (is_added(out, n.path))
		return 0;
	if (!devmajors_char(&q->inventory->majors, IMEX_DRIVER, &n.major))
		return refuse(why, WHY_ABSENT, "the policy gives %s, and the loaded NVIDIA driver has no IMEX channels "
		    "(/proc/devices has no " IMEX_DRIVER ")", n.path);
	if (lstat(n.path, &st) == -1)
		return refuse(why, WHY_ABSENT, "the policy gives %s, which is not there: nvidia-modprobe -i %u:1", n.path, n.minor);
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(n.major, n.minor))
		return refuse(why, WHY_CONFIG, "the policy gives %s, which is not the character device %u:%u of driver " IMEX_DRIVER
		    ": remove it, then nvidia-modprobe -i %u:1", n.path, n.major, n.minor, n.minor);
	return add_node(&n, NULL, out, why);
}

/* Adds what the policy's words give, where the GPU's own CDI device has no such node. */
static int
add_by_words(const struct driver_question *q, const struct granted_gpu *w, struct extra_nodes *out, struct why *why)
{
	const unsigned missing = w->rule->nodes & ~out->words, by_spec = missing & ~(unsigned)EXTRA_IMEX;
	const struct cdi_entry *e;
	size_t i;

	if (((missing & EXTRA_IMEX) != 0 || w->rule->one_channel) && add_channel(q, w, out, why) == -1)
		return -1;
	for (i = 0; by_spec != 0 && i < q->specs->entries; i++) {
		e = &q->specs->entry[i];
		if (!e->conflict && (extra_kind_word(e->file->spec.kind) & by_spec) != 0 &&
		    add_entry_nodes(q, w, e, out, why) == -1)
			return -1;
	}
	return 0;
}

int
driver_nodes(const struct driver_question *q, struct extra_nodes *out, struct why *why)
{
	const struct cdi_entry *e;
	unsigned channels = 0;
	size_t i;

	for (i = 0; i < q->grants; i++) {
		const struct granted_gpu *w = &q->granted[i];

		if (w->rule->kind == NULL)
			continue;
		if (driver_entry(q, w, &e, why) == -1)
			return -1;
		if ((e != NULL && add_entry_nodes(q, w, e, out, why) == -1) || add_by_words(q, w, out, why) == -1)
			return -1;
		channels |= w->rule->nodes & EXTRA_IMEX;
	}
	/* only now: a channel that one rule gives by its number is not the one that another rule's word gives */
	out->words |= channels;
	return 0;
}
