/*
 * What the wrapper needs at each exec into a container with a grant, as JSON (root/end/execrecord.h,
 * user/record/execrecordread.c).
 */
#ifndef GPUHELPER_LEASE_EXECTEXT_H
#define GPUHELPER_LEASE_EXECTEXT_H

#include "edits.h"
#include "leasefile.h"

/*
 * The variables and groups of these edits and, with «with_text», the text for the user. The caller frees it; NULL
 * if memory is short or a text is not UTF-8.
 */
char *exec_text(const struct lease *l, const struct edits *e, bool with_text);

#endif
