/*
 * What a GPU needs beside its nodes: the driver's libraries and programs that
 * the CDI spec with that GPU names, as changes to a container.
 *
 * A spec is root's word for which of the host's files go into containers, and
 * it says so once: when it was written.  Whether its files are still there, and
 * still root's alone, is looked at for every container.
 */
#ifndef GPUHELPER_HOST_DRIVERFILES_H
#define GPUHELPER_HOST_DRIVERFILES_H

#include "../pure/edits.h"
#include "../pure/gpu.h"
#include "../pure/policy.h"
#include "../pure/settings.h"
#include "cdidirs.h"

/* A GPU that is granted, and the rule that gives it. */
struct driver_want {
	const struct gpu *gpu;
	const struct gpu_rule *rule;
};

struct driver_question {
	const struct cdi_registry *specs;	/* loaded as «trusted» */
	const struct inventory *inventory;	/* with the specs' names in it (cdigpus.h) */
	const struct settings *settings;
	const struct driver_want *want;
	size_t wants;
};

/*
 * Adds mounts, variables and (cdi_hooks = "allow") hooks to *out, and the paths
 * of the specs to *used.  What *out has already is not overridden: a variable
 * stays, and a mount that a driver's file would meet is a refusal.
 * -1 with *why, for a spec that can't be used, is older than the loaded driver
 * or names what is not there or not root's.
 */
int driver_files(const struct driver_question *q, struct edits *out, struct strlist *used, struct why *why);

/* The spec's device that is this GPU; *e NULL: none, and none is needed.  -1 with *why. */
int driver_entry(const struct driver_question *q, const struct driver_want *w, const struct cdi_entry **e,
    struct why *why);

/*
 * The version of the NVIDIA driver that a library belongs to, by its file's name
 * ("580.95.05"); "" for what is none of the driver's, or has a version of its own.
 */
void driver_library_version(const char *path, char out[32]);

#endif
