/* gpuhelperctl check --against: compares one set of policies with the GPUs of many hosts. */
#ifndef GPUHELPER_CTL_CHECK_CHECKHOSTS_H
#define GPUHELPER_CTL_CHECK_CHECKHOSTS_H

#include "../ctl.h"

/*
 * Compares the policies in o->config_dir with the hosts in the file o->against, and prints the warnings.  The file is
 * {"HOST": {...}, ...}; each value is the output of «gpuhelperctl devices --json» on that host.  Returns the exit
 * status.
 */
int check_against(const struct options *o);

#endif
