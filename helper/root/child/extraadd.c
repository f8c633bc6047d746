/* See extraadd.h. Believes only the kernel: /proc/devices and sysfs. Opens no node. */
#include "extraadd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../gpu/extranode.h"
#include "../../host/file.h"
#include "../../host/gpu/extranodefind.h"
#include "../../host/trust.h"

static bool
gives(const struct inventory *inv, const struct granted_gpu *w, const char *part, const struct extra_node *node)
{
	unsigned word;

	if (w->rule->kind == NULL)
		return false;
	switch (extra_classify(&inv->majors, w->gpu, part, node, &word)) {
	case EXTRA_OF_GPU:
		return true;
	case EXTRA_DISPLAYS:
		return (w->rule->capabilities & (GPU_CAP_GRAPHICS | GPU_CAP_DISPLAY)) != 0;
	case EXTRA_BY_WORD:
		return (w->rule->nodes & word) != 0 &&
		    !(word == EXTRA_IMEX && w->rule->one_channel && node->minor != w->rule->channel);
	case EXTRA_OF_GPUS:
	case EXTRA_UNKNOWN:
		break;
	}
	return false;
}

static bool
is_gpus_own(const struct inventory *inv, const struct gpu_node *node)
{
	size_t i, k;

	for (i = 0; i < inv->gpus; i++)
		for (k = 0; k < inv->gpu[i].nodes; k++)
			if (inv->gpu[i].node[k].major == node->major && inv->gpu[i].node[k].minor == node->minor)
				return true;
	return false;
}

/*
 * gpuhelper-engine must not choose the name of a node that is to be made. Follows no link, and enters no directory that
 * others than root can change: a user's file system there may never answer.
 */
static int
check_is_there(const struct gpu_node *node, struct why *why)
{
	autofree char *parent = path_parent(node->path);
	autoclose int dir = -1;
	struct stat st;

	if (parent == NULL)
		return refuse_nomem(why);
	if (trust_pin_dir(parent, true, &dir, why) != TRUST_FOUND)
		return -1;
	if (fstatat(dir, path_last(node->path), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(st.st_mode) &&
	    st.st_rdev == makedev(node->major, node->minor))
		return 0;
	return refuse(why, WHY_ABSENT, "node %s of a CDI spec is not device %u:%u itself: make the node again, or name in the "
	    "spec what a symbolic link leads to", node->path, node->major, node->minor);
}

int
extra_add(const struct inventory *inv, const struct granted_gpu *granted, size_t n, const struct gpu_node *node,
    struct extra_nodes *out, struct why *why)
{
	const struct extra_node seen = extra_node_find(node->major, node->minor);
	const struct gpu *own = NULL;
	bool given = false;
	char part[16];
	size_t i;

	for (i = 0; i < n; i++) {
		gpu_part(inv, granted[i].gpu, part);
		given = given || gives(inv, &granted[i], part, &seen);
		if (extra_is_own(granted[i].gpu, part, &seen))
			own = granted[i].gpu;
	}
	if (!given || out->n == DRIVER_NODES_MAX || is_gpus_own(inv, node))
		return refuse(why, WHY_BUG, "gpuhelper-engine reports node %s (%u:%u), which no policy gives here", node->path,
		    node->major, node->minor);
	if (check_is_there(node, why) == -1)
		return -1;
	out->own[out->n] = own;
	out->v[out->n++] = *node;
	return 0;
}
