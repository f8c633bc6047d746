/* Reads an entry of a policy's «folders». */
#ifndef GPUHELPER_READ_CONF_FOLDERREAD_H
#define GPUHELPER_READ_CONF_FOLDERREAD_H

#include "../../policy/folderrule.h"
#include "conf.h"

/*
 * Reads a group into *r, which must be all zero. Adds faults to *f. The caller calls folder_rule_free() in
 * any case.
 */
void folder_rule_read(config_setting_t *s, struct folder_rule *r, struct faults *f);

#endif
