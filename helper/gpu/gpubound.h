/*
 * The bound of a worker's GPUs: containers get no GPU outside it, whatever policies say. SLURM and other
 * workload managers set it in the worker's environment.
 */
#ifndef GPUHELPER_GPU_GPUBOUND_H
#define GPUHELPER_GPU_GPUBOUND_H

#include "gpu.h"

struct gpu_bound {
	bool set;
	struct strlist names;		/* as for gpu_is_named(), with ranks; empty: no GPU at all */
};

/*
 * Parses CUDA_VISIBLE_DEVICES (NVIDIA: ranks by PCI address, "GPU-UUID", "MIG-UUID") or ROCR_VISIBLE_DEVICES (AMD:
 * ranks, "GPU-" and 16 hex digits). "", "-1" and "NoDevFiles" mean no GPU; a NULL text means no bound. Returns 0, or -1
 * with *why for anything else, because a list that is understood only in part limits nothing reliably.
 * gpu_bounds_free() in any case.
 */
int gpu_bound_parse(enum gpu_vendor vendor, const char *text, struct gpu_bound *out, struct why *why);
/* Parses both, each into its vendor's element. */
int gpu_bounds_parse(const char *cuda, const char *rocr, struct gpu_bound out[GPU_VENDORS], struct why *why);
/* True if the GPU is within its vendor's bound. */
bool gpu_is_within(const struct gpu_bound bound[GPU_VENDORS], const struct gpu *g);
void gpu_bounds_free(struct gpu_bound bound[GPU_VENDORS]);

#endif
