/* gpuhelperctl check --against: one set of policies and the GPUs of many hosts. */
#ifndef GPUHELPER_CTL_AGAINST_H
#define GPUHELPER_CTL_AGAINST_H

#include "ctl.h"

/*
 * Judges the policies of o->config_dir against the hosts in the file o->against: {"HOST": {...}, ...}, each as
 * «gpuhelperctl devices --json» printed it there.  Returns the exit status.
 */
int check_against(const struct options *o);

#endif
