/* A policy file's text, read. */
#ifndef GPUHELPER_READ_POLICYREAD_H
#define GPUHELPER_READ_POLICYREAD_H

#include "../pure/conffault.h"
#include "../pure/policy.h"

/*
 * Parses one file.  False: *f says all that is wrong, with lines, and *p is not
 * to be used.  policy_free() in either case.
 */
bool policy_parse(const char *name, const char *text, size_t len, struct policy *p, struct faults *f);

#endif
