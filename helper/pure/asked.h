/*
 * What a container asks for, in GPUHELPER_GPUS and GPUHELPER_FOLDERS, and what a
 * workload manager let its worker have.  Texts in, values out.
 */
#ifndef GPUHELPER_PURE_ASKED_H
#define GPUHELPER_PURE_ASKED_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu.h"
#include "text.h"
#include "why.h"

enum ask_access { ASK_ANY, ASK_RO, ASK_RW };
struct ask_folder {
	char *path;
	enum ask_access access;
};
struct ask_count {
	bool has_vendor;
	enum gpu_vendor vendor;
	unsigned n;
};
/* GPUs beyond which a container gets none, whatever its policy says. */
struct gpu_bound {
	bool set;
	struct strlist names;		/* as gpu_is_named() takes them, ranks too; empty: none at all */
};
struct ask {
	bool everything;		/* neither was asked for: all that the policy lists */
	bool all_gpus;
	struct ask_count count[8];
	size_t counts;
	struct strlist gpu_ids;
	bool all_folders;
	struct ask_folder *folder;
	size_t folders;
	struct gpu_bound bound[GPU_VENDORS];
};

/*
 * Reads GPUHELPER_GPUS ("2", "amd:1", "all", "none", UUIDs and PCI addresses,
 * parted by commas) and GPUHELPER_FOLDERS ("/srv/a:ro,/srv/b:rw", "all",
 * "none"); either may be NULL.
 */
int ask_parse(const char *gpus, const char *folders, struct ask *out, struct why *why);
/*
 * Reads a workload manager's choice, which SLURM and the like leave in
 * CUDA_VISIBLE_DEVICES (NVIDIA: ranks by PCI address, "GPU-UUID", "MIG-UUID") and
 * ROCR_VISIBLE_DEVICES (AMD: ranks, "GPU-" and 16 hex digits); "", "-1" and
 * "NoDevFiles" are none.  NULL text: no bound.  -1 with *why for anything else:
 * half of a list is not a bound to rely on.
 */
int ask_bound(struct ask *a, enum gpu_vendor vendor, const char *text, struct why *why);
bool ask_wants_gpus(const struct ask *a);
void ask_free(struct ask *a);
#define autoask __attribute__((cleanup(ask_free)))

#endif
