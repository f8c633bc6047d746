/* One entry of a policy's «folders»: a folder that it gives out. */
#ifndef GPUHELPER_PURE_FOLDERRULE_H
#define GPUHELPER_PURE_FOLDERRULE_H

#include "policy.h"

/* Reads a group into *r, which is zeroed; what is wrong with it goes to *f.  folder_rule_free() in any case. */
void folder_rule_read(config_setting_t *s, struct folder_rule *r, struct faults *f);
void folder_rule_free(struct folder_rule *r);

#endif
