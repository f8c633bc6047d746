/*
 * CDI devices and the GPUs of this host: a spec's device is the GPU whose nodes
 * it has.  Its name says nothing: "0" is an index by an order of the spec's own.
 */
#ifndef GPUHELPER_PURE_CDIGPU_H
#define GPUHELPER_PURE_CDIGPU_H

#include "cdi.h"
#include "gpu.h"

/* Where a node lies on the host. */
const char *cdi_node_source(const struct cdi_devnode *n);

/*
 * The one GPU, or MIG instance, that the device is: it has all the nodes that
 * this one can't do without, and no node of any other.  Of an instance and of
 * what it alone makes up, the instance.  NULL where it is none, or several.
 */
struct gpu *cdi_gpu_of(const struct cdi_device *d, const struct inventory *inv);

/*
 * Among the GPU's names the one of this kind ("vendor.com/class"); of no kind in
 * particular where kind is NULL, the vendor's own ("nvidia.com/gpu") first.
 * NULL: none.
 */
const char *cdi_name_of(const struct gpu *g, const char *kind);

/*
 * What of the inventory is made up of the same nodes and has names: a GPU
 * instance of one compute instance is known by that one's.  g itself where it
 * has some, or where there is no such.
 */
const struct gpu *cdi_same_gpu(const struct inventory *inv, const struct gpu *g);

/* True if a name has this kind. */
bool cdi_name_is_of(const char *name, const char *kind);

/* The path of one of the GPU's nodes, or of one that its vendor's GPUs have in common? */
bool gpu_has_node(const struct inventory *inv, const struct gpu *g, const char *path);
/* The GPU that has the node to itself; NULL: no one. */
const struct gpu *gpu_of_node(const struct inventory *inv, const char *path);

#endif
