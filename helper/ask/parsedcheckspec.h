/* Checks a CDI spec, as parsedcheck.h the rest. */
#ifndef GPUHELPER_ASK_PARSEDCHECKSPEC_H
#define GPUHELPER_ASK_PARSEDCHECKSPEC_H

#include "../base/why.h"

struct cdi_spec;
/* 0, or -1 with *why of WHY_BUG. Does not check hooks: that is done before they run. */
int parsed_check_spec(const struct cdi_spec *s, struct why *why);

#endif
