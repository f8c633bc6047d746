/* What a spec needs the host for: numbers that it leaves out, and whether what it names is what it says. */
#ifndef GPUHELPER_HOST_CDIHOST_H
#define GPUHELPER_HOST_CDIHOST_H

#include "../pure/cdiapply.h"

/*
 * Fills m->node from the nodes of m->v (shallow copies: the strings stay the
 * spec's; the caller frees the array) as the reference library does
 * (container-edits_unix.go): a node with type and major is taken as it is, its
 * mode from the host where the spec has none; any other must be there.  -1 with
 * *why.
 */
int cdi_fill_nodes(struct cdi_merged *m, struct why *why);

/*
 * Adds to *f, as CDI_UNSAFE, what of the spec's device nodes, bind mounts and
 * hooks is not there, is a symbolic link, is no device or another one than the
 * spec says, could (a hook's program, and a link on the way to anything) be
 * changed by others than root, or is by its real path what no mount may be of.
 * It tells what is there now: who mounts or runs it has to pin it by himself.
 * Opens no device.
 */
void cdi_check_host(const struct cdi_spec *s, struct cdi_faults *f);

#endif
