/*
 * What root's files say, as gpuhelper-read has read them. Root's wrapper compares a reply of the helper with it
 * (vetting.h), and parses none of these files by itself.
 */
#ifndef GPUHELPER_USER_VET_PARSEDFILES_H
#define GPUHELPER_USER_VET_PARSEDFILES_H

#include "../../host/driver/cdidirs.h"
#include "../../policy/policyset.h"

/*
 * Gets the policies from the helper's answer cache; without an answer there, has gpuhelper-read answer. Returns 0, or
 * -1 with *why. policy_set_free() in any case.
 */
int parsed_files_policies(struct policy_set *p, struct why *why);

/* The same for CDI specs. cdi_registry_free() in any case. */
int parsed_files_specs(struct cdi_registry *r, struct why *why);

/* Closes what the questions have opened. */
void parsed_files_end(void);

#endif
