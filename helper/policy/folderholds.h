/* What lies in a folder that a rule grants. */
#ifndef GPUHELPER_POLICY_FOLDERHOLDS_H
#define GPUHELPER_POLICY_FOLDERHOLDS_H

#include "folderrule.h"

/* True if the absolute path is strictly beneath a folder that the rule grants for writing. */
bool folder_rule_holds(const struct folder_rule *r, const char *path);

#endif
