/* What finds and names GPUs (gpu.h). The helper includes none of this. */
#ifndef GPUHELPER_GPU_GPUFIND_H
#define GPUHELPER_GPU_GPUFIND_H

#include "gpu.h"

bool gpu_vendor_parse(const char *name, enum gpu_vendor *v);
/* Parses "compute" and so on; "all" stands for every capability. */
bool gpu_capability_parse(const char *name, unsigned *bit);

/*
 * Sorts inv->gpu by vendor, PCI address and partition, and sets rank: each vendor's usable GPUs count from 0,
 * unusable ones have UINT_MAX. Integrated GPUs count, so that allowing them changes no rank. A MIG instance
 * has the rank of its GPU.
 */
void inventory_rank(struct inventory *inv);

/* Adds a GPU to the inventory, valid until the next call. NULL if memory is short. */
struct gpu *inventory_add(struct inventory *inv, enum gpu_vendor vendor);
/* Adds a node. One that does not fit is a bug, and is dropped rather than written past the end. */
void gpu_node_add(struct gpu_node v[GPU_NODES_MAX], size_t *n, struct gpu_node node);
/* Adds to «udev_clears». False if memory is short. */
bool inventory_add_udev_clears(struct inventory *inv, uint32_t major, uint32_t minor);
/* Merges in the inventory «from», which covers only this vendor. False if memory is short. */
bool inventory_merge(const struct inventory *from, enum gpu_vendor v, struct inventory *to);
/*
 * Copies the vendors in the mask (1 << enum gpu_vendor), as if no others had been looked for. 0, or -1 with
 * *why if one of them has a fault or memory is short. The caller calls inventory_free() in any case.
 */
int inventory_copy(const struct inventory *from, unsigned vendors, struct inventory *out, struct why *why);

/*
 * True if «name», from a policy's «devices» or a request, means this GPU. Names are "all" (every usable GPU),
 * a UUID, a PCI address in any spelling, a rank as "#0" and, with by_rank only, as "0". Prefixes do not match, and
 * only hex digits match in either case. All partitions of a GPU have its PCI address, and may have its UUID.
 * A MIG instance is named by its GPU's name with ":GI:CI", or ":GI" for a whole GPU instance; "all" matches
 * every instance "GI:CI", and the whole GPU, too. Names in CDI specs count: "vendor.com/class=name" in full,
 * and "MIG-UUID", which only a spec tells.
 */
bool gpu_is_named(const struct gpu *g, const char *name, bool by_rank);

#endif
