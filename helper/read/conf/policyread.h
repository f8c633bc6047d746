/* Parses the text of a policy file. */
#ifndef GPUHELPER_READ_CONF_POLICYREAD_H
#define GPUHELPER_READ_CONF_POLICYREAD_H

#include "../../policy/conffault.h"
#include "../../policy/policy.h"

/*
 * Parses one file. Returns false if *f has errors, each with its line; *p must then not be used. The caller
 * calls policy_free() in any case.
 */
bool policy_parse(const char *name, const char *text, size_t len, struct policy *p, struct faults *f);

#endif
