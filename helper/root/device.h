/* Device nodes of the host: found to be what they should be, and kept in hand while that is judged. */
#ifndef GPUHELPER_ROOT_DEVICE_H
#define GPUHELPER_ROOT_DEVICE_H

#include "../host/access.h"
#include "../pure/edits.h"
#include "../pure/gpu.h"
#include "label.h"
#include "leaselist.h"
#include "peer.h"

/* What the nodes are looked at for. */
struct device_view {
	const struct inventory *inv;
	const struct subject *subject;	/* the container's process */
	const struct peer *peer;
	const struct leases *others;	/* whose acts may be the same */
	struct lease *lease;		/* gets what has to be done to the nodes */
	const struct label *label;	/* of the container */
	bool alone;			/* no one else holds any of the GPU at hand */
};

/*
 * Has a node that is not there made, where nvidia-modprobe would make it: as an
 * act of the lease, not yet done.  -1 with *why where it can't be, but for an
 * optional one.
 */
int device_plan(const struct device_view *v, const struct gpu_node *n, struct edits *unused, struct why *why);

/*
 * Pins the node (O_PATH, no link), checks that it is the character device that
 * the kernel gave this major and minor to, sees that the container's process
 * will be let in (by mode, ACL, a group that a rootful runtime can add, or an
 * ACL entry, which becomes an act of the lease, not yet done), and adds it to
 * *out.  A missing optional node is no error.  -1 with *why.
 */
int device_add(const struct device_view *v, const struct gpu_node *n, struct edits *out, struct why *why);

/* One of the two above, for the nodes that one GPU needs for these capabilities, or all of a vendor's. */
typedef int device_do(const struct device_view *v, const struct gpu_node *n, struct edits *out, struct why *why);
int device_each(const struct device_view *v, const struct gpu *g, unsigned capabilities, device_do *what,
    struct edits *out, struct why *why);

#endif
