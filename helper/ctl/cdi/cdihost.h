/*
 * The checks of a CDI spec that need the host: device numbers that the spec leaves out, and whether paths are
 * what it says.
 */
#ifndef GPUHELPER_CTL_CDI_CDIHOST_H
#define GPUHELPER_CTL_CDI_CDIHOST_H

#include "cdiapply.h"

/*
 * Fills m->node from the nodes of m->v, as the reference library does (container-edits_unix.go). A node with
 * type and major number is taken as it is, with its mode from the host if the spec has none. Any other node
 * must exist on the host.
 * The nodes are shallow copies: the strings stay the spec's, and the caller frees only the array. Returns 0,
 * or -1 with *why.
 */
int cdi_fill_nodes(struct cdi_merged *m, struct why *why);

/*
 * Adds to *f, as CDI_UNSAFE (hooks as CDI_UNSAFE_HOOK), each device node, bind mount and hook of the spec that
 * - does not exist, is a symbolic link, is no device, or is another device than the spec says;
 * - others than root could change (for hooks), or is reached by a link that others than root could change; or
 * - has a real path that no mount may have.
 * This is what the host has now: whoever mounts or runs it must pin it. Opens no device.
 */
void cdi_check_host(const struct cdi_spec *s, struct cdi_faults *f);

#endif
