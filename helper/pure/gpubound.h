/*
 * GPUs beyond which a worker's containers get none, whatever their policies say: a workload manager's choice, which
 * SLURM and the like leave in the worker's environment.
 */
#ifndef GPUHELPER_PURE_GPUBOUND_H
#define GPUHELPER_PURE_GPUBOUND_H

#include "gpu.h"

struct gpu_bound {
	bool set;
	struct strlist names;		/* as gpu_is_named() takes them, ranks too; empty: none at all */
};

/*
 * Reads CUDA_VISIBLE_DEVICES (NVIDIA: ranks by PCI address, "GPU-UUID", "MIG-UUID") or ROCR_VISIBLE_DEVICES (AMD:
 * ranks, "GPU-" and 16 hex digits); "", "-1" and "NoDevFiles" are none.  NULL text: no bound.  -1 with *why for
 * anything else: half of a list is not a bound to rely on.  gpu_bounds_free() in either case.
 */
int gpu_bound_parse(enum gpu_vendor vendor, const char *text, struct gpu_bound *out, struct why *why);
/* Both of them, each in its vendor's place. */
int gpu_bounds_parse(const char *cuda, const char *rocr, struct gpu_bound out[GPU_VENDORS], struct why *why);
/* Is the GPU within its vendor's? */
bool gpu_is_within(const struct gpu_bound bound[GPU_VENDORS], const struct gpu *g);
void gpu_bounds_free(struct gpu_bound bound[GPU_VENDORS]);

#endif
