/* Parses the files of policy.d and CDI specs, with the caller's own rights. */
#ifndef GPUHELPER_READ_PARSE_H
#define GPUHELPER_READ_PARSE_H

#include "../host/driver/cdidirs.h"
#include "../host/own/etc.h"
#include "../policy/policyset.h"

/*
 * Parses the text of a policy file. A broken file is an entry with the reason in «broken». False if memory is
 * short. The caller calls policy_set_free() on the set that the entry is in.
 */
bool policy_entry_parse(const char *name, const char *text, size_t len, struct policy_entry *out);

/* Parses all policy files. False if memory is short. The caller calls policy_set_free() in any case. */
bool policies_parse(const struct policy_files *files, struct policy_set *out);

/*
 * Parses the CDI specs of a registry: a cdi_parser of host/driver/cdidirs.h. Returns 0, or -1 with *why if memory is
 * short.
 */
int specs_parse(struct cdi_registry *r, struct why *why);

#endif
