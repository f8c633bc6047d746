/* Reads what a container asks for, in GPUHELPER_GPUS and GPUHELPER_FOLDERS. */
#ifndef GPUHELPER_JUDGE_REQUESTED_H
#define GPUHELPER_JUDGE_REQUESTED_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/text.h"
#include "../base/why.h"
#include "../gpu/gpubound.h"

enum requested_access { REQUESTED_ANY, REQUESTED_RO, REQUESTED_RW };
struct requested_folder {
	char *path;
	enum requested_access access;
};
struct requested_count {
	bool has_vendor;
	enum gpu_vendor vendor;
	unsigned n;
};
struct requested {
	bool everything;		/* neither variable is set: asks for all that the policy lists */
	bool all_gpus;
	struct requested_count count[8];
	size_t counts;
	struct strlist gpu_ids;
	bool all_folders;
	struct requested_folder *folder;
	size_t folders;
	struct gpu_bound bound[GPU_VENDORS];
	bool privileged;		/* the container is, and only a policy can allow that */
};

/*
 * Reads GPUHELPER_GPUS ("2", "amd:1", "all", "none", UUIDs, PCI addresses and ranks as "#0", separated by commas) and
 * GPUHELPER_FOLDERS ("/srv/a:ro,/srv/b:rw", "all", "none"). Either may be NULL. Does not fill out->bound and
 * out->privileged. Returns 0, or -1 with *why. The caller calls requested_free() in any case.
 */
int requested_parse(const char *gpus, const char *folders, struct requested *out, struct why *why);
/* True if GPUs are asked for. */
bool requested_wants_gpus(const struct requested *a);
void requested_free(struct requested *a);
#define autorequested __attribute__((cleanup(requested_free)))

#endif
