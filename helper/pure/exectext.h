/* What the wrapper needs at each exec of a container that has a grant, as JSON (root/execrecord.h, user/exec.c). */
#ifndef GPUHELPER_PURE_EXECTEXT_H
#define GPUHELPER_PURE_EXECTEXT_H

#include "edits.h"
#include "leasefile.h"

/*
 * The variables and groups of these edits, and, with «line», what its user is to be told.  The caller frees; NULL: no
 * memory, or something is not UTF-8.
 */
char *exec_text(const struct lease *l, const struct edits *e, bool line);

#endif
