/* Folders of a grant: what is there on the host, and whether it may be handed on. */
#ifndef GPUHELPER_HOST_FOLDERS_H
#define GPUHELPER_HOST_FOLDERS_H

#include "../pure/edits.h"
#include "../pure/grant.h"
#include "access.h"

/*
 * Resolves each folder of the grant (patterns against what is there), refuses
 * what a runtime that follows the path again could be led astray on, and adds
 * the bind mounts to *out.  -1 with *why: WHY_IO where this process may not look.
 */
int folders_resolve(const struct grant *g, const struct subject *s, struct edits *out, struct why *why);

/*
 * fs.protected_hardlinks (proc_sys_fs(5)).  1: only who could read and write a file
 * anyway can give it a name in a folder of his; 0: anyone can; -1: can't be seen
 * (errno).
 */
int folders_hardlinks_protected(void);

#endif
