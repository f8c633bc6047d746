/* All policies, as lines (parsed.h). */
#ifndef GPUHELPER_ASK_PARSEDPOLICY_H
#define GPUHELPER_ASK_PARSEDPOLICY_H

#include "../base/lines.h"
#include "../policy/policyset.h"

void policy_set_lines(struct lines *t, struct policy_set *s);

#endif
