/*
 * CDI edits put into a config.json (OCI runtime specification 1.x), as the
 * reference library does it (pkg/cdi/container-edits.go, internal/ociedit).
 */
#ifndef GPUHELPER_PURE_CDIAPPLY_H
#define GPUHELPER_PURE_CDIAPPLY_H

#include "cdi.h"

/* The edits of several specs and devices in their order; all is borrowed. */
struct cdi_merged {
	const struct cdi_edits **v;
	size_t n;
	struct cdi_devnode *node;	/* all their nodes, with what the host had to add (host/cdihost.h) */
	size_t nodes;
};

/*
 * The new text, which the caller frees; all that the edits don't touch stays the
 * bytes that it was.  Environment, device nodes, network devices, mounts (all of
 * which are sorted then by the depth of their destination), hooks, Intel RDT,
 * groups.  What OCI requires of a part that was not there comes as zero or "",
 * as the library writes it.  NULL with *why.
 */
char *cdi_apply(const char *config, size_t config_len, const struct cdi_merged *m, size_t *len, struct why *why);

#endif
