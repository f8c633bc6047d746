/* Words of a policy's «nodes» that give a container nothing on this host. */
#ifndef GPUHELPER_CTL_EXPLAIN_EXTRAWORDS_H
#define GPUHELPER_CTL_EXPLAIN_EXTRAWORDS_H

#include "../../gpu/extranode.h"
#include "../../host/driver/cdidirs.h"

/* Takes a line about one word. */
typedef void extra_teller(void *ctx, const char *line);

/* Calls «tell» for each word in the mask «words», which added no node to a grant by these specs. */
void extra_words_tell(const struct cdi_registry *specs, unsigned words, extra_teller *tell, void *ctx);

#endif
