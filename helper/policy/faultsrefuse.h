/* Refuses a file with faults. */
#ifndef GPUHELPER_POLICY_FAULTSREFUSE_H
#define GPUHELPER_POLICY_FAULTSREFUSE_H

#include "conffault.h"

/* The first error as «file:line: text», code WHY_CONFIG; returns -1. */
int faults_refuse(const struct faults *f, const char *file, struct why *why);

#endif
