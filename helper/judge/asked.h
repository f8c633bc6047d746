/* Reads what a container asks for, in GPUHELPER_GPUS and GPUHELPER_FOLDERS. */
#ifndef GPUHELPER_JUDGE_ASKED_H
#define GPUHELPER_JUDGE_ASKED_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/text.h"
#include "../base/why.h"
#include "../gpu/gpubound.h"

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
struct ask {
	bool everything;		/* neither variable is set: asks for all that the policy lists */
	bool all_gpus;
	struct ask_count count[8];
	size_t counts;
	struct strlist gpu_ids;
	bool all_folders;
	struct ask_folder *folder;
	size_t folders;
	struct gpu_bound bound[GPU_VENDORS];
	bool privileged;		/* the container is, and only a policy can allow that */
};

/*
 * Reads GPUHELPER_GPUS ("2", "amd:1", "all", "none", UUIDs, PCI addresses and ranks as "#0", separated by commas) and
 * GPUHELPER_FOLDERS ("/srv/a:ro,/srv/b:rw", "all", "none"). Either may be NULL. Does not fill out->bound and
 * out->privileged. Returns 0, or -1 with *why. The caller calls ask_free() in any case.
 */
int ask_parse(const char *gpus, const char *folders, struct ask *out, struct why *why);
/* True if GPUs are asked for. */
bool ask_wants_gpus(const struct ask *a);
void ask_free(struct ask *a);
#define autoask __attribute__((cleanup(ask_free)))

#endif
