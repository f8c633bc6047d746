/* The files of policy.d and CDI specs, read, for whoever does that with his own rights. */
#ifndef GPUHELPER_READ_PARSE_H
#define GPUHELPER_READ_PARSE_H

#include "../host/cdidirs.h"
#include "../host/etc.h"
#include "../pure/policyset.h"

/* What a policy file's text says.  False: no memory.  policy_set_free() of what it is in. */
bool policy_entry_parse(const char *name, const char *text, size_t len, struct policy_entry *out);

/* What the policy files say.  False: no memory.  policy_set_free() in either case. */
bool policies_parse(const struct policy_files *files, struct policy_set *out);

/* A cdi_parser (host/cdidirs.h). */
int specs_parse(struct cdi_registry *r, struct why *why);

#endif
