/* Device nodes of the host: checks them, and plans how the container gets access. */
#ifndef GPUHELPER_ROOT_NODE_DEVICE_H
#define GPUHELPER_ROOT_NODE_DEVICE_H

#include "../../gpu/gpu.h"
#include "../../host/access.h"
#include "../../lease/edits.h"
#include "../enter/peer.h"
#include "../lease/leaselist.h"
#include "label.h"

/* For whom nodes are checked. */
struct device_view {
	const struct inventory *inv;
	const struct subject *subject;	/* the container's process */
	const struct peer *peer;
	struct lease *lease;		/* gets the mode and owner of its nodes */
	struct changes *changes;		/* gets what is to be done */
	const struct label *label;	/* of the container */
	bool alone;			/* nobody else holds any part of the GPU in question */
};

/*
 * If the node is missing, and nvidia-modprobe would make it, plans a change that makes it; if it was made for another
 * lease, plans to share that. -1 with *why if it can't be made, unless it is optional.
 */
int device_plan(const struct device_view *v, const struct gpu_node *n, struct edits *unused, struct why *why);

/*
 * Pins the node (O_PATH, no link), checks that it is the character device with this major and minor, and adds it
 * to *out. Makes sure that the container's process gets access: by mode, by ACL, by a group that a rootful
 * runtime can add, or by an ACL entry, for which it plans a change. A missing optional node is no error. -1 with *why.
 */
int device_add(const struct device_view *v, const struct gpu_node *n, struct edits *out, struct why *why);

/*
 * Calls one of the two above for every node that the GPU needs for these capabilities, also for those
 * of all GPUs of its vendor.
 */
typedef int device_do(const struct device_view *v, const struct gpu_node *n, struct edits *out, struct why *why);
int device_each(const struct device_view *v, const struct gpu *g, unsigned capabilities, device_do *what,
    struct edits *out, struct why *why);

#endif
