/*
 * Merges CDI edits into a config.json (OCI runtime specification 1.x), as the reference library does
 * (pkg/cdi/container-edits.go, internal/ociedit).
 */
#ifndef GPUHELPER_CTL_CDI_CDIAPPLY_H
#define GPUHELPER_CTL_CDI_CDIAPPLY_H

#include "../../cdi/cdi.h"

/* The edits of several specs and devices, in order. All pointers are borrowed. */
struct cdi_merged {
	const struct cdi_edits **v;
	size_t n;
	struct cdi_devnode *node;	/* all their nodes, completed from the host (ctl/cdi/cdihost.h) */
	size_t nodes;
};

/*
 * The merged text, which the caller frees. Whatever the edits don't touch stays byte for byte. Merges
 * environment, device nodes, network devices, mounts (all then sorted by the depth of their destination),
 * hooks, Intel RDT and groups. Members that OCI requires in a new object are zero or "", as the library
 * writes them. NULL with *why.
 */
char *cdi_apply(const char *config, size_t config_len, const struct cdi_merged *m, size_t *len, struct why *why);

#endif
