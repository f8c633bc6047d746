/* Which mounts of a CDI spec a policy's rule leaves out. */
#ifndef GPUHELPER_POLICY_DRIVERLEFTOUT_H
#define GPUHELPER_POLICY_DRIVERLEFTOUT_H

#include "../cdi/cdi.h"
#include "policy.h"

/* True if the mount, one of *e, is for something else than the rule's capabilities. «vendor» is that of its GPUs. */
bool driver_mount_left_out(const struct gpu_rule *r, enum gpu_vendor vendor, const struct cdi_edits *e,
    const struct cdi_mount *m);

#endif
