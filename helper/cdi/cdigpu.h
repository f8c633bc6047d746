/*
 * Matches CDI devices with the GPUs of this host: a device is the GPU whose nodes it has. Its name does not
 * count: «0» is an index in the spec's own order.
 */
#ifndef GPUHELPER_CDI_CDIGPU_H
#define GPUHELPER_CDI_CDIGPU_H

#include "../gpu/gpu.h"
#include "cdi.h"

/*
 * The node's path on the host. After cdigpus_name() (host/driver/cdigpus.h) it is the inventory's path for each node of
 * the inventory, wherever the spec has it.
 */
const char *cdi_node_source(const struct cdi_devnode *n);

/*
 * The node with this path, or with this number, among those of the inventory's GPUs and those that all GPUs of a vendor
 * share. NULL if there is none.
 */
const struct gpu_node *cdi_node_of_path(const struct inventory *inv, const char *path);
const struct gpu_node *cdi_node_of_number(const struct inventory *inv, int64_t major, int64_t minor);

/* True if the spec itself says the number of the node, a character device. */
bool cdi_node_is_numbered(const struct cdi_devnode *n);

/*
 * The GPU or MIG instance that the device is: the device has every node that the GPU needs, and no node of another GPU.
 * If a GPU instance consists of one compute instance, the device is the instance. NULL if there is none, or more than
 * one.
 */
struct gpu *cdi_gpu_of(const struct cdi_device *d, const struct inventory *inv);

/*
 * For a device that is no GPU of this host: the reason, as a text that follows its name ("has no device node").
 */
const char *cdi_no_gpu(const struct cdi_device *d, const struct inventory *inv);

/*
 * The entry of the inventory that has the same nodes and has CDI names: a GPU instance with one compute instance has
 * the names of that compute instance. g itself if it has names, or if there is no such entry.
 */
const struct gpu *cdi_same_gpu(const struct inventory *inv, const struct gpu *g);

/* True if the path is that of one of the GPU's nodes, or of a node that all GPUs of its vendor share. */
bool gpu_has_node(const struct inventory *inv, const struct gpu *g, const char *path);
/* The GPU that alone has the node; NULL if none has. */
const struct gpu *gpu_of_node(const struct inventory *inv, const char *path);

#endif
