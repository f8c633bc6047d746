/* Device nodes of the host: found to be what they should be, and kept in hand while that is judged. */
#ifndef GPUHELPER_ROOT_DEVICE_H
#define GPUHELPER_ROOT_DEVICE_H

#include "../host/access.h"
#include "../pure/edits.h"
#include "../pure/gpu.h"
#include "peer.h"

/* What the nodes are looked at for. */
struct device_view {
	const struct inventory *inv;
	const struct subject *subject;	/* the container's process */
	const struct asker *asker;
};

/*
 * Pins the node (O_PATH, no link), checks that it is the character device that
 * the kernel gave this major and minor to, makes it where nvidia-modprobe would
 * make it, sees that the container's process will be let in (by mode, ACL, or a
 * group that a rootful runtime can add), and adds it to *out.  A missing
 * optional node is no error.  -1 with *why.
 */
int device_add(const struct device_view *v, const struct gpu_node *n, struct edits *out, struct why *why);

/* The nodes of one GPU for these capabilities. */
int device_add_gpu(const struct device_view *v, const struct gpu *g, unsigned capabilities, struct edits *out,
    struct why *why);
/* The nodes that all GPUs of a vendor share. */
int device_add_common(const struct device_view *v, enum gpu_vendor vendor, unsigned capabilities, struct edits *out,
    struct why *why);

#endif
