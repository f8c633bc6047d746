/* Which GPUs a rule of a policy (policy.h) names. The helper includes none of this. */
#ifndef GPUHELPER_POLICY_GPURULE_H
#define GPUHELPER_POLICY_GPURULE_H

#include "policy.h"

/* What the rule's GPUs are called in messages: "nvidia", or the CDI kind. */
const char *gpu_rule_vendor(const struct gpu_rule *r);
/* The vendors of its GPUs, as a mask for gpus_find(). */
unsigned gpu_rule_vendors(const struct gpu_rule *r);
/* Compares one word of a rule by CDI kind with one full name of a device. */
bool gpu_rule_means_name(const struct gpu_rule *r, const char *device, const char *name);
/* True if the rule names this GPU, or all GPUs. */
bool gpu_rule_names(const struct gpu_rule *r, const struct gpu *g);
/* The same for one word of its «devices». */
bool gpu_rule_means(const struct gpu_rule *r, const char *device, const struct gpu *g);
/*
 * The first of the GPU's names in CDI specs by which the rule gives it; for a rule without a CDI kind, the
 * one that cdi_name_of() finds. NULL if there is none.
 */
const char *gpu_rule_cdi_name(const struct gpu_rule *r, const struct gpu *g);

#endif
