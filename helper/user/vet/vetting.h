/* Compares what the helper grants with what root's files say, before root's wrapper acts on it (vet/vet.h). */
#ifndef GPUHELPER_USER_VET_VETTING_H
#define GPUHELPER_USER_VET_VETTING_H

#include "../../ask/request.h"
#include "../../gpu/gpu.h"
#include "../../ask/reply.h"
#include "../../policy/settings.h"

/*
 * Checks the reply's changes to the container of request *r, and sets env_secret if a variable is the policy's. To be
 * called by the host's root. Returns 0, or -1 with *why: WHY_AGAIN if the reply's policy is gone, WHY_BUG if it gives
 * more than root's files do.
 */
int vetting_check(struct reply *reply, const struct request *r, const struct settings *s,
    const struct devmajors *majors, struct why *why);

#endif
